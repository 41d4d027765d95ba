import { KubernetesCluster, Settings } from "@isthmus/api";
import {
  type CooperativeTask,
  emptyTable,
  equalJson,
  formatRef,
  type Kind,
  keyOfResource,
  type Report,
  type Resource,
  refOf,
  type Table,
} from "@isthmus/core";
import { type Finding, reportOf, warningFinding } from "../../findings.ts";
import { type Derived, derived, updated } from "../../incremental/derived.ts";
import { inputKind } from "../../incremental/join.ts";
import type { Transition } from "../../incremental/transition.ts";
import { addressFindings } from "../../policy/hosts/agentAddress.ts";
import { hostSuffixFindings } from "../../policy/hosts/givenHosts.ts";
import { ineffectiveFindings, registrationFindings, suppressionFindings } from "../../policy/ineffective.ts";
import type { InputTables } from "../policies.ts";

/** What is said of an object that selects nothing. */
export interface CheckedObject {
  readonly key: string;
  readonly reports: readonly Report[];
}

/** Settings and registrations: those of which something is to be said. */
export interface OtherObjects {
  readonly settings: Table<CheckedObject>;
  readonly registrations: Table<CheckedObject>;
}

/** Nothing said. */
export function noOtherObjects(): OtherObjects {
  return { settings: noObjects(), registrations: noObjects() };
}

/** What is to be said of each. */
export function* checkedOtherObjects(change: Transition<InputTables>, before: OtherObjects): CooperativeTask<OtherObjects> {
  return {
    settings: yield* updated(before.settings, checkedSettings, change),
    registrations: yield* updated(before.registrations, checkedRegistrations, change),
  };
}

function noObjects(): Table<CheckedObject> {
  return emptyTable(({ key }) => key);
}

const checkedSettings = checked(Settings, (settings, namespace) => {
  const { name, namespace: place = "", clusterName = "" } = settings.metadata;
  const isUsed = name === USED && place === namespace && clusterName === "";
  return isUsed
    ? [...ineffectiveFindings(settings), ...suppressionFindings(settings), ...addressFindings(settings), ...hostSuffixFindings(settings)]
    : [notUsed(namespace)];
});
const checkedRegistrations = checked(KubernetesCluster, registrationFindings);

// The one object that holds the plane's settings.
const USED = "settings";

function notUsed(namespace: string): Finding {
  const used = formatRef({ apiVersion: Settings.apiVersion, kind: Settings.kind, name: USED, namespace, clusterName: "" });
  return warningFinding(
    "SettingsNotUsed",
    `is not used: the Settings of this management plane are ${used} in the management cluster: write them there`,
  );
}

function checked<R extends Resource>(
  kind: Kind<R>,
  findingsOf: (object: R, namespace: string) => readonly Finding[],
): Derived<InputTables, CheckedObject> {
  return derived({
    from: inputKind<InputTables, R>(kind),
    context: ({ translationContext }) => translationContext.namespace,
    joins: {},
    make: (object, { context, before }) => {
      const reports = findingsOf(object, context).map((finding) => reportOf(refOf(object), finding));
      if (reports.length === 0) return undefined;
      return before !== undefined && equalJson(before.reports, reports) ? before : { key: keyOfResource(object), reports };
    },
  });
}
