/** Thrown by `Kind.parse`: an object that is not of its kind. */
export class InvalidResource extends Error {
  override readonly name = "InvalidResource";
  /** The offending field, such as `spec.policy.requestTimeout`; "" when the object as a whole is wrong. */
  readonly path: string;
  /** What is wrong with it and what to write instead. */
  readonly problem: string;

  /** `object` names the object as a person reads it, kind included: `TrafficPolicy bookinfo/slow`. */
  constructor(object: string, path: string, problem: string) {
    super(`${object}: ${path === "" ? "" : `${path}: `}${problem}`);
    this.path = path;
    this.problem = problem;
  }
}

/** Thrown when two translators want to write one object: our fault, never a user's. */
export class DuplicateOutput extends Error {
  override readonly name = "DuplicateOutput";
  constructor(ref: string) {
    super(`two translators write ${ref}: change the name that one of them gives to its output`);
  }
}

/** A mistake of the person who runs a program (a flag, a file, a setting): printed as one line, without a stack trace. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The text of anything thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
