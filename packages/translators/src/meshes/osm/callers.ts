import type { AccessPolicy, Destination, IdentitySelector, TrafficTargetSubject } from "@isthmus/api";
import { type Finding, invalidFinding } from "../../findings.ts";

/** The callers that an AccessPolicy allows, as SMI names them. Not to be used when there are findings. */
export interface SmiCallers {
  readonly sources: readonly TrafficTargetSubject[];
  readonly findings: readonly Finding[];
}

/** What SMI cannot say of callers keeps the whole policy off: anything else would allow too much or too little. */
export function callersIn({ spec = {} }: AccessPolicy, destination: Destination): SmiCallers {
  const selectors = spec.sourceSelector ?? [];
  if (selectors.length === 0) return { sources: [], findings: [unsupported("spec.sourceSelector", "allowing every caller")] };
  const entries = selectors.map((selector, i) => entryCallers(selector, destination, `spec.sourceSelector[${i}]`));
  return { sources: entries.flatMap(({ sources }) => sources), findings: entries.flatMap(({ findings }) => findings) };
}

function entryCallers({ kubeServiceAccountRefs, ...rest }: IdentitySelector, destination: Destination, path: string): SmiCallers {
  const others = Object.keys(rest);
  const accounts = kubeServiceAccountRefs?.serviceAccounts ?? [];
  const findings = others.map((field) => unsupported(`${path}.${field}`, "selecting callers by anything except their service account"));
  if (others.length === 0 && accounts.length === 0) findings.push(unsupported(path, "allowing every caller"));
  const subjects = accounts.map((account, i) =>
    accountCaller(account, destination, `${path}.kubeServiceAccountRefs.serviceAccounts[${i}]`),
  );
  return { sources: subjects.flatMap(({ sources }) => sources), findings: [...findings, ...subjects.flatMap((one) => one.findings)] };
}

interface ServiceAccount {
  readonly name?: string;
  readonly namespace?: string;
  readonly clusterName?: string;
}

function accountCaller(
  { name = "", namespace = "", clusterName = "" }: ServiceAccount,
  destination: Destination,
  path: string,
): SmiCallers {
  const home = destination.spec?.kubeService?.ref?.clusterName ?? "";
  const findings = [
    // An omitted cluster stands for any, and callers come from this one only.
    ...(clusterName === "" || clusterName === home ? [] : [unsupported(`${path}.clusterName`, "callers from other clusters")]),
    ...(name === "" ? [unsupported(`${path}.name`, "callers with any name")] : []),
    ...(namespace === "" ? [unsupported(`${path}.namespace`, "callers from any namespace")] : []),
  ];
  return { sources: [{ kind: "ServiceAccount", name, namespace }], findings };
}

function unsupported(path: string, words: string): Finding {
  return invalidFinding(
    "PolicyUnsupported",
    `${path}: Open Service Mesh does not support ${words}: name service accounts of the same cluster in kubeServiceAccountRefs`,
  );
}
