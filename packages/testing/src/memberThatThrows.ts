/**
 * Has a member that no object has throw where translation reads it of the objects that `isOne` names, while `work` runs: what a bug would do in the step
 * that reads it. Objects that come from JSON, as files and browsers have them, cannot throw by themselves.
 */
export async function withThrowingMember<T>(member: string, isOne: (object: object) => boolean, work: () => T | Promise<T>): Promise<T> {
  Object.defineProperty(Object.prototype, member, {
    configurable: true,
    get(this: object) {
      if (!isOne(this)) return undefined;
      const error = new Error("a step has a bug");
      // Who reads is found in the stack.
      if (TRANSLATION.test(error.stack ?? "")) throw error;
      return undefined;
    },
    // As if it were not there.
    set(this: object, value: unknown) {
      Object.defineProperty(this, member, { configurable: true, enumerable: true, writable: true, value });
    },
  });
  const limit = Error.stackTraceLimit;
  // Steps call each other deeply.
  Error.stackTraceLimit = 100;
  try {
    return await work();
  } finally {
    Error.stackTraceLimit = limit;
    Reflect.deleteProperty(Object.prototype, member);
  }
}

const TRANSLATION = /packages\/translators\/src\//;
