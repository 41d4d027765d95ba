import { compareKeys, FIRST_SEEN, keyOfResource, type Metadata, type Resource } from "@isthmus/core";

/**
 * How old objects of workload clusters are. `FIRST_SEEN`: as the annotation of that name says, and what lacks it is younger than all that
 * have it: no cluster decides how old its objects are. `CREATED`, for files, which no server received: where nothing is stamped,
 * `metadata.creationTimestamp` stands for the stamp.
 */
export type AgeSource = "FIRST_SEEN" | "CREATED";

/**
 * How far an object's claims go back. What is of the management cluster comes before all else, by `metadata.creationTimestamp`. Then
 * what the plane received first; of one moment, cluster by cluster in the order of their names, and by their own timestamps only
 * within each: no object precedes one of another cluster by its cluster's word. The order is that of a tuple, so it is transitive.
 */
export interface Age {
  readonly isOfManagement: boolean;
  /** Milliseconds since 1970; infinite where nobody said it, which is youngest. */
  readonly since: number;
  readonly clusterName: string;
  /** By its own cluster's word; infinite where that says nothing. */
  readonly created: number;
}

/** The age of an object. `received`: when the plane did so, where that is reported elsewhere than on the object. */
export function ageOf(
  { clusterName = "", annotations, creationTimestamp }: Omit<Metadata, "name">,
  ages: AgeSource,
  received?: string,
): Age {
  const created = timeOf(creationTimestamp);
  if (clusterName === "") return { isOfManagement: true, since: created, clusterName: "", created };
  const stamp = received ?? annotations?.[FIRST_SEEN];
  if (ages === "FIRST_SEEN") return { isOfManagement: false, since: timeOf(stamp), clusterName, created };
  const since = timeOf(stamp ?? creationTimestamp);
  return { isOfManagement: false, since, clusterName: "", created: since };
}

/** Orders ages: the one with precedence first. 0 where names decide. */
export function compareAges(a: Age, b: Age): number {
  if (a.isOfManagement !== b.isOfManagement) return a.isOfManagement ? -1 : 1;
  return compared(a.since, b.since) || compareKeys(a.clusterName, b.clusterName) || compared(a.created, b.created);
}

/** Orders users' resources by precedence: by age, then the smaller key, `name.namespace.cluster`, first. */
export function precedence(ages: AgeSource): (a: Resource, b: Resource) => number {
  return ages === "CREATED" ? byCreation : byReceipt;
}

function byCreation(a: Resource, b: Resource): number {
  return compareAges(ageOf(a.metadata, "CREATED"), ageOf(b.metadata, "CREATED")) || compareKeys(keyOfResource(a), keyOfResource(b));
}

function byReceipt(a: Resource, b: Resource): number {
  return compareAges(ageOf(a.metadata, "FIRST_SEEN"), ageOf(b.metadata, "FIRST_SEEN")) || compareKeys(keyOfResource(a), keyOfResource(b));
}

function timeOf(timestamp: string | undefined): number {
  const time = Date.parse(timestamp ?? "");
  return Number.isNaN(time) ? Number.POSITIVE_INFINITY : time;
}

function compared(a: number, b: number): number {
  return a === b ? 0 : a < b ? -1 : 1;
}
