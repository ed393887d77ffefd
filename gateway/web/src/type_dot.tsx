import { markOf } from "./colors";
import type { Session } from "./session";

/** How nodes of a type are drawn, beside its name. */
export function TypeDot({ session, type }: { session: Session; type: string }) {
  const { color, isRing } = markOf(session.marks.value, type);
  return <span class="dot" style={isRing ? { border: `0.24rem solid ${color}` } : { background: color }} aria-hidden="true" />;
}
