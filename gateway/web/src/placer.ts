/** Places nodes without holding up the page. */

import { isHosted } from "./hosted";
import { Placement, type Point, type Task } from "./placement";
import PlacementWorker from "./placement_worker?worker&inline";

type OnPlaces = (places: Map<string, Point>, isDone: boolean) => void;

const SLICE_MILLISECONDS = 8;

/** Runs in a worker where the page may have one. */
export class Placer {
  private worker: Worker | undefined;
  private task: Task | undefined;
  private frame = 0;

  constructor(private readonly onPlaces: OnPlaces) {
    // The policy of a host forbids it, and would write an error.
    if (isHosted()) return;
    try {
      this.worker = new PlacementWorker();
      this.worker.onmessage = ({ data }: MessageEvent<{ places: Map<string, Point>; isDone: boolean }>) => {
        this.onPlaces(data.places, data.isDone);
      };
      this.worker.onerror = () => {
        this.worker = undefined;
        if (this.task) this.inSlices(this.task);
      };
    } catch {
      this.worker = undefined;
    }
  }

  place(task: Task): void {
    this.task = task;
    cancelAnimationFrame(this.frame);
    if (this.worker) this.worker.postMessage(task);
    else this.inSlices(task);
  }

  private inSlices(task: Task): void {
    const placement = new Placement(task);
    const go = (): void => {
      const isDone = placement.advance(SLICE_MILLISECONDS);
      this.onPlaces(placement.places(), isDone);
      if (!isDone) this.frame = requestAnimationFrame(go);
    };
    go();
  }
}
