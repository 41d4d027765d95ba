import type { Resource } from "./resource.ts";

/**
 * A kind names a type of resource at run time and carries its static type.
 * One kind covers all versions of its group: `apiVersion` is the one we prefer to read and write, `versions` lists every
 * version we understand, the preferred one first.
 */
export interface Kind<R extends Resource = Resource> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  readonly namespaced: boolean;
  readonly versions: readonly string[];
  /** For a kind by which much more could be done than we do: the form in which agents write it, and no other. */
  readonly writtenForm?: Kind;
  /**
   * Whether an object has programs that users name run where requests are served: agents write it only where their operator allows that. It
   * must be one that `writtenForm` has parsed.
   */
  runsCode?(resource: Resource): boolean;
  /** Checks one object of any of `versions`. Throws InvalidResource, naming the offending path. Unknown fields stay. */
  parse(input: unknown): R;
  /** What of an object leaves its cluster: the fields that translation reads. Absent: the object as it is. */
  project?(resource: R): R;
  /** Of a kind that agents also write, and so read in full: what leaves a cluster of an object of users'. Absent: what `project` gives. */
  reportedForm?(resource: R): R;
}

/** The static type of a kind's resources. */
export type ResourceOf<K> = K extends Kind<infer R> ? R : never;
