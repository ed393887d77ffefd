/** Where nodes are: a force simulation that runs some ticks at a time, in a worker or between frames. */

import {
  type Simulation,
  type SimulationLinkDatum,
  type SimulationNodeDatum,
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
} from "d3-force";

export interface Point {
  x: number;
  y: number;
}

export interface Task {
  /** IDs, with the place that a node has already. */
  nodes: readonly (readonly [string, Point | undefined])[];
  /** Positions of ends in `nodes`. */
  edges: readonly (readonly [number, number])[];
}

interface Body extends SimulationNodeDatum {
  id: string;
}

const LEAST_ALPHA = 0.02;

/** Simulates one task from its start to its end. */
export class Placement {
  private readonly bodies: Body[];
  private readonly simulation: Simulation<Body, SimulationLinkDatum<Body>>;

  constructor(task: Task) {
    const degrees = new Map<number, number>();
    for (const edge of task.edges) for (const end of edge) degrees.set(end, (degrees.get(end) ?? 0) + 1);
    const known = task.nodes.filter(([, place]) => place).length;
    this.bodies = task.nodes.map(([id, place]) => ({ id, ...place }));
    const links = task.edges.filter(([from, to]) => from !== to).map(([source, target]) => ({ source, target }));
    const isLarge = task.nodes.length > 600;
    this.simulation = forceSimulation(this.bodies)
      .force("charge", forceManyBody().strength(-140).theta(isLarge ? 1.4 : 0.9).distanceMax(900))
      .force("link", forceLink<Body, SimulationLinkDatum<Body>>(links).distance(60))
      .force("collide", isLarge ? null : forceCollide(16))
      .force("x", forceX(0).strength(0.05))
      .force("y", forceY(0).strength(0.05))
      .alphaMin(LEAST_ALPHA)
      // Fewer ticks where most nodes have their place, and where each tick is long.
      .alphaDecay(isLarge ? 0.06 : 0.035)
      .alpha(known > task.nodes.length / 2 ? 0.35 : 1)
      .stop();
  }

  get isDone(): boolean {
    return this.simulation.alpha() < LEAST_ALPHA;
  }

  /** Go on until the time is over, and return whether this is the end. */
  advance(milliseconds: number): boolean {
    const end = performance.now() + milliseconds;
    while (!this.isDone && performance.now() < end) this.simulation.tick();
    return this.isDone;
  }

  places(): Map<string, Point> {
    return new Map(this.bodies.map(({ id, x, y }) => [id, { x: x ?? 0, y: y ?? 0 }]));
  }
}
