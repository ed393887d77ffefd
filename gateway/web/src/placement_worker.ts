/** Runs placements in a worker; a new task ends the one before. */

import { Placement, type Task } from "./placement";

let current = 0;

addEventListener("message", ({ data }: MessageEvent<Task>) => {
  current += 1;
  const mine = current;
  const placement = new Placement(data);
  const go = (): void => {
    if (mine !== current) return;
    const isDone = placement.advance(40);
    postMessage({ places: placement.places(), isDone });
    if (!isDone) setTimeout(go);
  };
  go();
});
