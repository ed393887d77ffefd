import type { ComponentChildren } from "preact";

interface Props {
  title: string;
  items: readonly { key: string; text: ComponentChildren; disabled?: boolean }[];
  /** An item was chosen, by a click or by Enter. */
  choose: (key: string) => void;
}

/** A button that lists what can be done: nothing is done before one of the items is pressed. */
export function Menu({ title, items, choose }: Props) {
  return (
    <details class="menu folds">
      <summary>{title}</summary>
      <ul>
        {items.map(({ key, text, disabled = false }) => (
          <li key={key}>
            <button
              type="button"
              class="link"
              disabled={disabled}
              onClick={(event) => {
                fold(event.currentTarget.closest("details")!);
                choose(key);
              }}
            >
              {text}
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Fold the list that is open where the focus is, else the last that is open; return whether there was one. */
export function foldOne(): boolean {
  const open = document.activeElement?.closest<HTMLDetailsElement>(".folds[open]") ?? [...document.querySelectorAll<HTMLDetailsElement>(".folds[open]")].at(-1);
  if (open) fold(open);
  return open !== undefined && open !== null;
}

function fold(list: HTMLDetailsElement): void {
  const hasFocus = list.contains(document.activeElement);
  list.open = false;
  if (hasFocus) list.querySelector("summary")?.focus();
}
