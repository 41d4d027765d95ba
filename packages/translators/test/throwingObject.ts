import type { Resource } from "@isthmus/core";

/** Thrown by an object that a test has made so. */
export class Thrown extends Error {
  override readonly name = "Thrown";
}

/** Counts reads, and throws from one of them on. */
export interface ReadCounter {
  readonly object: Resource;
  /** How often what it says was read: everything but its names. */
  readonly reads: number;
  /** Where the first throw was. */
  readonly stack: string | undefined;
}

/**
 * An object whose members throw from the given read on, at whatever depth: what a bug in the step that reads it then would do. Its names
 * do not throw: without them nobody could say which object it is.
 */
export function throwingObject(object: Resource, from: number): ReadCounter {
  const known = new WeakMap<object, object>();
  const counter = { reads: 0, stack: undefined as string | undefined };
  function read(): void {
    if (++counter.reads < from) return;
    const error = new Thrown("a step has a bug");
    counter.stack ??= error.stack;
    throw error;
  }
  function guarded<T>(value: T): T {
    if (typeof value !== "object" || value === null) return value;
    const made = known.get(value) ?? new Proxy(value, HANDLER);
    known.set(value, made);
    return made as T;
  }
  const HANDLER: ProxyHandler<object> = {
    get(target, member, receiver) {
      if (typeof member !== "symbol") read();
      const value: unknown = Reflect.get(target, member, receiver);
      return typeof value === "function" ? value : guarded(value);
    },
    ownKeys(target) {
      read();
      return Reflect.ownKeys(target);
    },
  };
  const NAMES = new Set<string | symbol>(["name", "namespace", "clusterName", "uid", "generation", "resourceVersion"]);
  const metadata = new Proxy(object.metadata, {
    ...HANDLER,
    get: (target, member, receiver) =>
      NAMES.has(member) ? Reflect.get(target, member, receiver) : HANDLER.get?.(target, member, receiver),
  });
  const whole = new Proxy(object, {
    ...HANDLER,
    get(target, member, receiver) {
      if (member === "metadata") return metadata;
      return member === "apiVersion" || member === "kind" ? Reflect.get(target, member, receiver) : HANDLER.get?.(target, member, receiver);
    },
  });
  return {
    object: whole as Resource,
    get reads() {
      return counter.reads;
    },
    get stack() {
      return counter.stack;
    },
  };
}
