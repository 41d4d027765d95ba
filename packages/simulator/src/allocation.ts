/** Hands out addresses and ports, each to one holder at a time, round and round. */
export interface Allocator<T> {
  /** A free value, or the desired one when it is free. Undefined when nothing, or not the desired one, is free. */
  take(wanted?: T): T | undefined;
  release(value: T): void;
}

/** An allocator of `size` values. */
export function allocator<T>(size: number, valueAt: (position: number) => T): Allocator<T> {
  const taken = new Set<T>();
  let next = 0;
  return {
    take(wanted) {
      if (wanted !== undefined) {
        if (taken.has(wanted)) return undefined;
        taken.add(wanted);
        return wanted;
      }
      for (let tries = 0; tries < size; tries++) {
        const value = valueAt(next);
        next = (next + 1) % size;
        if (taken.has(value)) continue;
        taken.add(value);
        return value;
      }
      return undefined;
    },
    release(value) {
      taken.delete(value);
    },
  };
}

/** The IPv4 address at `position` of a block that begins at `base`, such as `10.96.0.0`. */
export function addressAt(base: string, position: number): string {
  const start = base.split(".").reduce((sum, byte) => sum * 256 + Number(byte), 0);
  const value = start + position;
  return [value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255].join(".");
}
