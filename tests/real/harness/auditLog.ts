import { closeSync, fstatSync, openSync, readSync, statSync } from "node:fs";

/** One request of our programs that was not merely to read. */
export interface PlaneWrite {
  /** `patch virtualservices bookinfo/reviews`, `patch trafficpolicies/status gloo-mesh/shift`. */
  readonly what: string;
  /** HTTP status of the answer. */
  readonly code: number;
}

/** What an audit log says about our programs. */
export interface PlaneAudit {
  /** What our programs wrote or tried to write so far, but for Events, which say what insights begin and end. */
  planeWrites(): readonly PlaneWrite[];
  /** What our programs were not allowed to do, be it to read. Without repeats. */
  planeRefusals(): readonly string[];
  /** What our programs did and were allowed to do, as `group/resource verb`. Without repeats. */
  planeVerbs(): readonly string[];
  /** How many watches of a resource (`virtualservices`) our programs have open. */
  planeWatches(resource: string): number;
}

/** The part of an audit log that is about one tenant of an API server. */
export interface AuditSection {
  readonly path: string;
  /** Bytes before this one are about earlier tenants. */
  readonly from: number;
  /** Milliseconds since 1970. Requests that were received before are an earlier tenant's: the end of a request may be logged late. */
  readonly since: number;
}

/** The user that our programs are. */
export const PLANE = "plane";

/** Metadata of all requests of our programs: nobody looks at what tests, controllers and the API server itself do. */
export const AUDIT_POLICY = JSON.stringify({
  apiVersion: "audit.k8s.io/v1",
  kind: "Policy",
  omitStages: ["RequestReceived"],
  rules: [
    { level: "Metadata", users: [PLANE] },
    { level: "Metadata", userGroups: ["system:serviceaccounts:gloo-mesh"] },
    { level: "None" },
  ],
});

/** Reads an audit log, with each question again. */
export function planeAudit(section: AuditSection): PlaneAudit {
  return {
    planeWrites: () => writesIn(planeEvents(section)),
    planeRefusals: () => refusalsIn(planeEvents(section)),
    planeVerbs: () => verbsIn(planeEvents(section)),
    planeWatches: (resource) => openWatches(planeEvents(section), resource),
  };
}

/** Our programs, as themselves or by an account that registration made. */
const OURS = /^(plane|system:serviceaccount:gloo-mesh:.*)$/;
const READS = new Set(["get", "list", "watch"]);
const FORBIDDEN = 403;

interface AuditEvent {
  readonly auditID: string;
  readonly stage: string;
  readonly verb: string;
  readonly requestReceivedTimestamp: string;
  readonly user: { readonly username: string };
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code: number };
}

function planeEvents({ path, from, since }: AuditSection): readonly AuditEvent[] {
  return wholeLines(path, from)
    .map((line) => JSON.parse(line) as AuditEvent)
    .filter(({ user, requestReceivedTimestamp }) => OURS.test(user.username) && Date.parse(requestReceivedTimestamp) >= since);
}

/** The lines of a file that begin at a byte or after it, and have their end. The API server writes meanwhile: its last line may be half there, and so may be the one at which a tenant began. */
function wholeLines(path: string, from: number): readonly string[] {
  const before = Math.max(0, from - 1);
  const text = textFrom(path, before);
  const first = from === 0 ? 0 : text.indexOf("\n") + 1;
  if (first === 0 && from > 0) return [];
  return text
    .slice(first, text.lastIndexOf("\n") + 1)
    .split("\n")
    .slice(0, -1);
}

/** The length of a file, in bytes. */
export function sizeOf(path: string): number {
  return statSync(path).size;
}

/** The text of a file from a byte on. */
export function textFrom(path: string, from: number): string {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(file).size - from));
    return bytes.toString("utf8", 0, readSync(file, bytes, 0, bytes.length, from));
  } finally {
    closeSync(file);
  }
}

function writesIn(events: readonly AuditEvent[]): readonly PlaneWrite[] {
  return events
    .filter(({ stage, verb, objectRef }) => stage === "ResponseComplete" && !READS.has(verb) && objectRef?.resource !== "events")
    .map((event) => ({ what: requestOf(event), code: event.responseStatus?.code ?? 0 }));
}

function refusalsIn(events: readonly AuditEvent[]): readonly string[] {
  return [...new Set(events.filter(({ responseStatus }) => responseStatus?.code === FORBIDDEN).map(requestOf))];
}

function verbsIn(events: readonly AuditEvent[]): readonly string[] {
  const allowed = events.filter(({ objectRef, responseStatus }) => objectRef !== undefined && responseStatus?.code !== FORBIDDEN);
  return [
    ...new Set(
      allowed.map(({ verb, objectRef: { apiGroup = "", resource, subresource } = { resource: "" } }) => {
        return `${apiGroup}/${resource}${subresource === undefined ? "" : `/${subresource}`} ${verb}`;
      }),
    ),
  ];
}

function openWatches(events: readonly AuditEvent[], resource: string): number {
  const open = new Set<string>();
  for (const { auditID, stage, verb, objectRef } of events) {
    if (verb !== "watch" || objectRef?.resource !== resource) continue;
    if (stage === "ResponseStarted") open.add(auditID);
    else open.delete(auditID);
  }
  return open.size;
}

function requestOf({ verb, objectRef }: AuditEvent): string {
  const { resource = "", subresource, namespace, name = "" } = objectRef ?? {};
  const place = `${namespace === undefined ? "" : `${namespace}/`}${name}`;
  return `${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`} ${place}`;
}
