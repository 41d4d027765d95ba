import { keptText } from "./text/keptText.ts";
/** One mistake in an object. */
export interface Problem {
  /** The offending field, such as `spec.policy.requestTimeout`; "" when the object as a whole is wrong. */
  readonly path: string;
  /** What is wrong with it and what to write instead. */
  readonly problem: string;
}

/** Thrown by `Kind.parse`: an object that is not of its kind. */
export class InvalidResource extends Error {
  override readonly name = "InvalidResource";
  /** The first mistake's field. */
  readonly path: string;
  /** The first mistake. */
  readonly problem: string;
  /** All mistakes that were found, the first one included: bounded, as one object may hold any number. */
  readonly problems: readonly Problem[];
  /** A sentence for each of `problems`; the first is `message`. */
  readonly messages: readonly string[];

  /** `object` names the object as a person reads it, kind included: `TrafficPolicy bookinfo/slow`. */
  constructor(object: string, path: string, problem: string, further: readonly Problem[] = []) {
    super(sentence(object, { path, problem }));
    this.path = path;
    this.problem = problem;
    this.problems = [{ path, problem }, ...further];
    this.messages = this.problems.map((one) => sentence(object, one));
  }
}

// A field may be named by a text of any length, and what is said of it goes into statuses and logs.
const LONGEST = 1024;

function sentence(object: string, problem: Problem): string {
  const text = `${object}: ${problemText(problem)}`;
  return text.length > LONGEST ? `${keptText(text, LONGEST - 3)}...` : text;
}

/** A mistake without the name of its object: `spec.meshes: must be a list`. */
export function problemText({ path, problem }: Problem): string {
  return path === "" ? problem : `${path}: ${problem}`;
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

/** Why a file cannot be read or written, in words: those of Node name a system call, and the path a second time. */
export function fileProblem(error: unknown): string {
  const code = (error as { readonly code?: unknown } | null)?.code;
  return (typeof code === "string" ? FILE_PROBLEMS[code] : undefined) ?? messageOf(error);
}

const FILE_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: "no such file or directory",
  EACCES: "permission denied",
  EISDIR: "is a directory",
  ENOTDIR: "a part of the path is not a directory",
  ELOOP: "symbolic links lead in a circle",
  ENAMETOOLONG: "the name is too long for a file",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left on the device",
  ERR_FS_FILE_TOO_LARGE: "is larger than 2 GiB: split it",
  ERR_STRING_TOO_LONG: "is larger than 512 MiB: split it",
};
