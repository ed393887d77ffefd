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

/** Nodes that stand around a centre, as positions in `nodes`; they move with it. */
export interface Ring {
  center: number;
  radius: number;
  members: readonly (readonly [number, Point])[];
}

export interface Task {
  /** IDs, with the place that a node has already. */
  nodes: readonly (readonly [string, Point | undefined])[];
  /** Positions of ends in `nodes`. */
  edges: readonly (readonly [number, number])[];
  rings: readonly Ring[];
  /** Positions in `nodes` of those that stay where they are. */
  fixed: readonly number[];
}

interface Body extends SimulationNodeDatum {
  id: string;
}

const LEAST_ALPHA = 0.02;

/** Around what stands on a ring, where nothing else may be. */
const MARGIN = 55;

/** Simulates one task from its start to its end. */
export class Placement {
  private readonly bodies: Body[];
  private readonly simulation: Simulation<Body, SimulationLinkDatum<Body>>;

  constructor(private readonly task: Task) {
    const known = task.nodes.filter(([, place]) => place).length;
    this.bodies = task.nodes.map(([id, place]) => ({ id, ...place }));
    for (const place of task.fixed) {
      const body = this.bodies[place]!;
      [body.fx, body.fy] = [body.x ?? 0, body.y ?? 0];
    }
    const seated = new Set(task.rings.flatMap(({ members }) => members.map(([place]) => place)));
    const links = task.edges
      .filter(([from, to]) => from !== to && !(seated.has(from) && seated.has(to)))
      .map(([source, target]) => ({ source, target }));
    const isLarge = task.nodes.length > 600;
    this.simulation = forceSimulation(this.bodies)
      .force("charge", forceManyBody<Body>().strength((_body, place) => (seated.has(place) ? -20 : -140)).theta(isLarge ? 1.4 : 0.9).distanceMax(900))
      .force("link", forceLink<Body, SimulationLinkDatum<Body>>(links).distance(isLarge ? 60 : 85))
      .force("collide", isLarge ? null : forceCollide(22))
      .force("x", forceX(0).strength(0.05))
      .force("y", forceY(0).strength(0.05))
      .force("rings", task.rings.length ? () => this.hold() : null)
      .alphaMin(LEAST_ALPHA)
      // Fewer ticks where most nodes have their place, and where each tick is long.
      .alphaDecay(isLarge ? 0.06 : 0.035)
      .alpha(known > task.nodes.length / 2 ? 0.35 : 1)
      .stop();
    this.seat();
  }

  get isDone(): boolean {
    return this.simulation.alpha() < LEAST_ALPHA;
  }

  /** Go on until the time is over, and return whether this is the end. */
  advance(milliseconds: number): boolean {
    const end = performance.now() + milliseconds;
    while (!this.isDone && performance.now() < end) {
      this.simulation.tick();
      this.seat();
    }
    return this.isDone;
  }

  places(): Map<string, Point> {
    return new Map(this.bodies.map(({ id, x, y }) => [id, { x: x ?? 0, y: y ?? 0 }]));
  }

  /** What pulls at those on a ring pulls at its centre, and rings keep apart from each other and from other nodes. */
  private hold(): void {
    const { rings } = this.task;
    const [moved, within] = [this.bodies, new Set<number>()];
    for (const { center, members } of rings) {
      const body = moved[center]!;
      within.add(center);
      for (const [place] of members) {
        const member = moved[place]!;
        body.vx = (body.vx ?? 0) + (member.vx ?? 0) / (members.length + 1);
        body.vy = (body.vy ?? 0) + (member.vy ?? 0) / (members.length + 1);
        within.add(place);
      }
    }
    for (const [number, ring] of rings.entries()) {
      const center = moved[ring.center]!;
      for (const other of rings.slice(number + 1)) push(center, moved[other.center]!, ring.radius + other.radius + 2 * MARGIN, 0.5);
      moved.forEach((body, place) => {
        if (!within.has(place)) push(center, body, ring.radius + MARGIN, 0);
      });
    }
  }

  private seat(): void {
    for (const { center, members } of this.task.rings) {
      const { x = 0, y = 0 } = this.bodies[center]!;
      for (const [place, offset] of members) {
        const body = this.bodies[place]!;
        if (body.fx === undefined) Object.assign(body, { x: x + offset.x, y: y + offset.y, vx: 0, vy: 0 });
      }
    }
  }
}

/** Move two bodies apart; `share`: how much of it the first one takes. */
function push(one: Body, other: Body, least: number, share: number): void {
  const [x, y] = [(other.x ?? 0) - (one.x ?? 0), (other.y ?? 0) - (one.y ?? 0)];
  const distance = Math.hypot(x, y) || 1;
  if (distance >= least) return;
  const far = ((least - distance) / distance) * 0.6;
  other.x = (other.x ?? 0) + (1 - share) * far * (x || 1);
  other.y = (other.y ?? 0) + (1 - share) * far * y;
  one.x = (one.x ?? 0) - share * far * (x || 1);
  one.y = (one.y ?? 0) - share * far * y;
}
