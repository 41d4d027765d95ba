import type { Leadership } from "../src/index.ts";

/** Says who leads, at once and to all: at first `a`. */
export function lead() {
  let leader = "a";
  const listeners = new Set<(name: string) => void>();
  const of = (name: string): Leadership => ({
    get isLeader() {
      return leader === name;
    },
    fence: 1,
    onChange(listener) {
      let was = leader === name;
      const hear = () => {
        if (was !== (leader === name)) listener(leader === name);
        was = leader === name;
      };
      listeners.add(hear);
      return () => listeners.delete(hear);
    },
  });
  const pass = (name: string) => {
    leader = name;
    for (const hear of listeners) hear(name);
  };
  return { of, pass };
}
