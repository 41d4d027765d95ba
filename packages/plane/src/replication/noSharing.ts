import type { Sharing } from "./sharing.ts";

const nothing = (): void => undefined;

/** A server on its own: there is nobody to share with. */
export const noSharing: Sharing = {
  instance: "",
  isLoaded: true,
  outage: undefined,
  room: { capacity: undefined, usedTenths: 0, refused: new Set() },
  store: undefined,
  touch: nothing,
  changed: nothing,
  forget: nothing,
  setDesired: nothing,
  answered: nothing,
  replicated: new Map(),
  digests: new Map(),
  metrics: () => [],
  ended: Promise.resolve(),
};
