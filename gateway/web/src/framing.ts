/** Selects by a frame: drawn with Shift, it never moves the picture. */

interface Corner {
  x: number;
  y: number;
}

/** Pixels from which a frame is meant. */
const LEAST = 5;

/** Call back with the corners of each frame that somebody draws over an element. */
export function watchFrames(element: HTMLElement, onFrame: (from: Corner, to: Corner) => void): void {
  const box = document.createElement("div");
  box.className = "frame";
  box.hidden = true;
  element.append(box);
  let from: Corner | undefined;
  let isFrame = false;
  const at = ({ clientX, clientY }: MouseEvent): Corner => {
    const { left, top } = element.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  };
  element.addEventListener(
    "mousedown",
    (event) => {
      isFrame = false;
      if (!event.shiftKey || event.button !== 0) return;
      event.stopPropagation();
      event.preventDefault();
      from = at(event);
    },
    true,
  );
  addEventListener("mousemove", (event) => {
    if (!from) return;
    const to = at(event);
    if (!isFrame && Math.hypot(to.x - from.x, to.y - from.y) < LEAST) return;
    isFrame = true;
    box.hidden = false;
    Object.assign(box.style, {
      left: `${Math.min(from.x, to.x)}px`,
      top: `${Math.min(from.y, to.y)}px`,
      width: `${Math.abs(to.x - from.x)}px`,
      height: `${Math.abs(to.y - from.y)}px`,
    });
  });
  addEventListener("mouseup", (event) => {
    if (from && isFrame) onFrame(from, at(event));
    from = undefined;
    box.hidden = true;
  });
  // The click that ends a frame selects nothing else.
  element.addEventListener(
    "click",
    (event) => {
      if (isFrame) event.stopPropagation();
      isFrame = false;
    },
    true,
  );
}
