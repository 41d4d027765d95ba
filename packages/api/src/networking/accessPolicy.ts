import { InvalidResource, keptText, messageOf, type Problem, problemText } from "@isthmus/core";
import { approvalColumns } from "../shared/approval.ts";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { lastAcceptedSpec } from "../shared/lastAcceptedSpec.ts";
import { fields, listOf, port, strings, userFields } from "../shared/schema.ts";
import { identitySelector, policyDestinationSelector } from "../shared/selectors.ts";
import { policyStatusFields } from "./trafficPolicy.ts";

const accessPolicySpec = userFields(
  {
    sourceSelector: listOf(identitySelector, {
      description:
        "Callers that are allowed: at least one entry must match. Default: all callers, with a warning; an empty list says that all are meant.",
      maxItems: 256,
    }),
    destinationSelector: listOf(policyDestinationSelector, {
      description:
        "Destinations that may be called: at least one entry must match. Empty: all. VirtualDestinations stand for the Destinations behind them.",
      maxItems: 256,
    }),
    allowedPaths: strings({
      description: "Allowed HTTP paths or gRPC methods (/package.Service/Method). `*` is allowed as prefix or suffix. Empty: all.",
    }),
    allowedMethods: strings({ description: "Allowed HTTP methods, in upper case. Empty: all." }),
    allowedPorts: listOf(port(), { description: "Allowed ports of the workloads. Empty: all." }),
  },
  { description: "Which callers may call which destinations." },
);

export type AccessPolicySpec = Value<typeof accessPolicySpec>;

const accessPolicyStatus = fields({
  ...policyStatusFields,
  lastAccepted: lastAcceptedSpec(
    "The last accepted spec. It stays in force on destinations for which a later spec cannot be translated, so that an error never widens access. Absent for a spec larger than 32 KiB.",
  ),
});

const strict = defineKind({
  apiVersion: "networking.mesh.gloo.solo.io/v1",
  kind: "AccessPolicy",
  plural: "accesspolicies",
  fields: { spec: accessPolicySpec, status: accessPolicyStatus },
  crd: {
    description: "Allows calls from selected identities to selected destinations.",
    shortNames: ["apol"],
    categories: ["gloo-mesh"],
    singular: "accesspolicy",
    printerColumns: approvalColumns,
  },
});

/**
 * Allows calls from selected identities to selected destinations. What no policy allows is refused once some policy is in force. One
 * with a spec that is not of its type does not vanish, as that would open what it guards.
 */
export const AccessPolicy: typeof strict = { ...strict, parse: parsed };

export type AccessPolicy = ReturnType<typeof strict.parse>;

/** The member of a spec that says why the rest of it could not be read, one mistake on each line. A user who sets it gets an INVALID policy, as with any unknown field. */
export const UNREADABLE = "unreadable";

function parsed(input: unknown): AccessPolicy {
  try {
    return strict.parse(input);
  } catch (error) {
    const kept = unreadableAccessPolicy(input, error instanceof InvalidResource ? error.problems.map(lineOf).join("\n") : messageOf(error));
    if (kept === undefined) throw error;
    return kept;
  }
}

function lineOf(problem: Problem): string {
  return keptText(problemText(problem).replaceAll("\n", " "), 1024);
}

/**
 * What stands for an AccessPolicy that cannot be read: its name, the entries of its destinationSelector that can be read, and what was
 * last in force. Undefined for what has no name. Without a destinationSelector it selects every Destination, as if it were right.
 */
function unreadableAccessPolicy(input: unknown, problem: string): AccessPolicy | undefined {
  const { apiVersion, kind, metadata, spec, status } = membersOf(input);
  const envelope = { apiVersion, kind, metadata };
  if (attempted(envelope) === undefined) return undefined;
  const given = membersOf(spec)["destinationSelector"];
  const isSelecting = given === undefined || given === null || (Array.isArray(given) && given.length === 0);
  // An empty entry selects nothing; an empty list would select everything.
  const isAll = isSelecting && typeof spec === "object" && spec !== null && !Array.isArray(spec);
  const entries = readableSelectors(given);
  const read = isAll ? {} : { destinationSelector: entries.length === 0 ? [{}] : entries };
  const { lastAccepted, observedGeneration } = membersOf(status);
  const withStatus = { ...envelope, spec: { ...read, [UNREADABLE]: problem }, status: { lastAccepted, observedGeneration } };
  return attempted(attempted({ ...envelope, status }) === undefined ? withStatus : { ...withStatus, status });
}

/** Those entries of a value that are of the type of a destinationSelector's. */
export function readableSelectors(value: unknown): NonNullable<AccessPolicySpec["destinationSelector"]> {
  if (!Array.isArray(value)) return [];
  const { apiVersion, kind } = strict;
  return value.slice(0, 256).flatMap((entry: unknown) => {
    const read = attempted({ apiVersion, kind, metadata: { name: "entry" }, spec: { destinationSelector: [entry] } });
    return read?.spec?.destinationSelector ?? [];
  });
}

/** An AccessPolicy as it was last in force; undefined when nothing is known of that, or the status is not understood. */
export function lastAcceptedForm(policy: AccessPolicy): AccessPolicy | undefined {
  const { spec } = policy.status?.lastAccepted ?? {};
  if (spec === undefined) return undefined;
  const { status: _, ...rest } = policy;
  return attempted({ ...rest, spec });
}

function attempted(input: unknown): AccessPolicy | undefined {
  try {
    return strict.parse(input);
  } catch {
    // Said already of the object as a whole.
    return undefined;
  }
}

function membersOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Readonly<Record<string, unknown>>) : {};
}
