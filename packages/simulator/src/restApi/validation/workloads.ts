import { equalJson, type LabelSelector, matchesSelector } from "@isthmus/core";
import { isMembers, type Members, membersAt } from "../../apply/json.ts";
import type { FieldError } from "../apiError.ts";
import { forbidden, invalid, required, unsupported } from "../fieldErrors.ts";
import { labelErrors } from "./metadata.ts";
import { labelValueProblems, qualifiedNameProblems } from "./names.ts";
import { listIn, oneOf, podSpecErrors } from "./podSpec.ts";

/** What a check is given. */
export interface Checked {
  readonly object: Members;
  readonly before: Members | undefined;
}

const OPERATORS: ReadonlySet<string> = new Set(["In", "NotIn", "Exists", "DoesNotExist"]);
const NOT_NEGATIVE = "must be greater than or equal to 0";
const IMMUTABLE = "field is immutable";

/** Of Deployments, ReplicaSets, StatefulSets and DaemonSets. */
export function workloadErrors({ object, before }: Checked): readonly FieldError[] {
  const spec = membersAt(object, "spec");
  const errors: FieldError[] = [...notNegative(spec["replicas"], "spec.replicas")];
  const { selector } = spec;
  const kind = String(object["kind"]);
  if (!isMembers(selector)) errors.push(required("spec.selector"));
  else {
    errors.push(...selectorErrors(selector, "spec.selector"));
    if (isEmptySelector(selector)) {
      const words =
        kind === "Deployment" ? "empty selector is invalid for deployment" : `empty selector is invalid for ${kind.toLowerCase()}`;
      errors.push(invalid("spec.selector", selector, words));
    }
  }
  const template = membersAt(spec, "template");
  const labels = membersAt(membersAt(template, "metadata"), "labels");
  const isOdd = isMembers(selector) && listIn(selector, "matchExpressions").some(({ operator }) => !OPERATORS.has(String(operator)));
  if (isOdd) errors.push(invalid("spec.selector", selector, "invalid label selector"));
  else if (!isMembers(selector) || !matchesSelector(selector as LabelSelector, labels as Readonly<Record<string, string>>)) {
    const shown = membersAt(template, "metadata")["labels"] ?? null;
    errors.push(invalid("spec.template.metadata.labels", shown, "`selector` does not match template `labels`"));
  }
  errors.push(...labelErrors(labels, "spec.template.labels"));
  errors.push(...podSpecErrors(membersAt(template, "spec"), "spec.template.spec", { policies: ["Always"] }));
  if (kind === "Deployment") {
    errors.push(...deploymentErrors(spec));
  }
  if (before !== undefined && !equalJson(membersAt(before, "spec")["selector"], selector)) {
    errors.push(invalid("spec.selector", selector, IMMUTABLE));
  }
  if (before !== undefined && kind === "StatefulSet") errors.push(...statefulSetChanges(spec, membersAt(before, "spec")));
  return errors;
}

function deploymentErrors(spec: Members): readonly FieldError[] {
  const errors = [
    ...notNegative(spec["revisionHistoryLimit"], "spec.revisionHistoryLimit"),
    ...notNegative(spec["minReadySeconds"], "spec.minReadySeconds"),
  ];
  const strategy = membersAt(spec, "strategy");
  if (strategy["type"] === "Recreate" && isMembers(strategy["rollingUpdate"])) {
    errors.push(forbidden("spec.strategy.rollingUpdate", "may not be specified when strategy `type` is 'Recreate'"));
  }
  const { type = "RollingUpdate" } = strategy;
  if (type !== "Recreate" && type !== "RollingUpdate") {
    errors.push(
      unsupported("spec.strategy", { Type: type, RollingUpdate: strategy["rollingUpdate"] ?? null }, ["Recreate", "RollingUpdate"]),
    );
  }
  const deadline = spec["progressDeadlineSeconds"];
  if (typeof deadline === "number" && deadline <= Number(spec["minReadySeconds"] ?? 0)) {
    errors.push(invalid("spec.progressDeadlineSeconds", deadline, "must be greater than minReadySeconds"));
  }
  return errors;
}

const CHANGEABLE = [
  "replicas",
  "ordinals",
  "template",
  "updateStrategy",
  "revisionHistoryLimit",
  "persistentVolumeClaimRetentionPolicy",
  "minReadySeconds",
];

function statefulSetChanges(spec: Members, before: Members): readonly FieldError[] {
  const fixed = (each: Members) => Object.fromEntries(Object.entries(each).filter(([name]) => !CHANGEABLE.includes(name)));
  if (equalJson(fixed(spec), fixed(before))) return [];
  const list =
    "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden";
  return [forbidden("spec", list)];
}

/** Of Jobs. */
export function jobErrors({ object, before }: Checked): readonly FieldError[] {
  const spec = membersAt(object, "spec");
  const errors: FieldError[] = [];
  for (const field of ["parallelism", "completions", "backoffLimit", "activeDeadlineSeconds", "ttlSecondsAfterFinished"]) {
    errors.push(...notNegative(spec[field], `spec.${field}`));
  }
  errors.push(...jobTemplateErrors(membersAt(spec, "template"), "spec.template"));
  if (before === undefined) return errors;
  const old = membersAt(before, "spec");
  for (const field of ["completions", "selector", "template", "completionMode", "podFailurePolicy", "backoffLimitPerIndex"]) {
    if (!equalJson(old[field], spec[field])) errors.push(invalid(`spec.${field}`, spec[field], IMMUTABLE));
  }
  return errors;
}

function jobTemplateErrors(template: Members, field: string): readonly FieldError[] {
  const podSpec = membersAt(template, "spec");
  const errors = [...podSpecErrors(podSpec, `${field}.spec`)];
  if (podSpec["restartPolicy"] === "Always" || podSpec["restartPolicy"] === undefined) {
    const [first] = oneOf(podSpec["restartPolicy"] ?? "Always", `${field}.spec.restartPolicy`, ["OnFailure", "Never"]);
    if (first !== undefined)
      errors.push({ ...first, reason: "FieldValueRequired", message: 'Required value: valid values: "OnFailure", "Never"' });
  }
  return errors;
}

/** Of CronJobs. */
export function cronJobErrors({ object }: Checked): readonly FieldError[] {
  const spec = membersAt(object, "spec");
  const errors: FieldError[] = [];
  const { schedule, concurrencyPolicy } = spec;
  if (schedule === undefined || schedule === "") errors.push(required("spec.schedule"));
  else errors.push(...scheduleErrors(String(schedule)));
  errors.push(...oneOf(concurrencyPolicy, "spec.concurrencyPolicy", ["Allow", "Forbid", "Replace"]));
  errors.push(...notNegative(spec["successfulJobsHistoryLimit"], "spec.successfulJobsHistoryLimit"));
  errors.push(...notNegative(spec["failedJobsHistoryLimit"], "spec.failedJobsHistoryLimit"));
  errors.push(
    ...jobTemplateErrors(membersAt(membersAt(membersAt(spec, "jobTemplate"), "spec"), "template"), "spec.jobTemplate.spec.template"),
  );
  return errors;
}

function scheduleErrors(schedule: string): readonly FieldError[] {
  if (/^@(yearly|annually|monthly|weekly|daily|midnight|hourly|every .+)$/.test(schedule)) return [];
  const fields = schedule.trim().split(/\s+/);
  if (fields.length !== 5) {
    return [invalid("spec.schedule", schedule, `expected exactly 5 fields, found ${fields.length}: [${fields.join(" ")}]`)];
  }
  const bad = fields.find((field) => !/^[*?\d,/\-A-Za-z]+$/.test(field));
  return bad === undefined
    ? []
    : [invalid("spec.schedule", schedule, `failed to parse int from ${bad}: strconv.Atoi: parsing ${JSON.stringify(bad)}: invalid syntax`)];
}

/** Of Pods: of their spec hardly anything may change. */
export function podErrors({ object, before }: Checked): readonly FieldError[] {
  const spec = membersAt(object, "spec");
  const errors = [...podSpecErrors(spec, "spec")];
  if (before === undefined) return errors;
  const fixed = (each: Members) => ({
    ...each,
    containers: listIn(each, "containers").map((container) => ({ ...container, image: "" })),
    initContainers: listIn(each, "initContainers").map((container) => ({ ...container, image: "" })),
    tolerations: [],
    activeDeadlineSeconds: 0,
    terminationGracePeriodSeconds: 0,
  });
  if (!equalJson(fixed(spec), fixed(membersAt(before, "spec")))) {
    errors.push(
      forbidden(
        "spec",
        "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
      ),
    );
  }
  return errors;
}

/** What is wrong with a selector of labels. */
export function selectorErrors(selector: Members, field: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const labels = selector["matchLabels"];
  if (isMembers(labels)) {
    for (const [key, value] of Object.entries(labels)) {
      errors.push(...qualifiedNameProblems(key).map((problem) => invalid(`${field}.matchLabels`, key, problem)));
      errors.push(...labelValueProblems(String(value)).map((problem) => invalid(`${field}.matchLabels`, String(value), problem)));
    }
  }
  listIn(selector, "matchExpressions").forEach(({ operator, values }, i) => {
    const at = `${field}.matchExpressions[${i}]`;
    const count = Array.isArray(values) ? values.length : 0;
    if (operator === "In" || operator === "NotIn") {
      if (count === 0) errors.push(required(`${at}.values`, "must be specified when `operator` is 'In' or 'NotIn'"));
    } else if (operator === "Exists" || operator === "DoesNotExist") {
      if (count > 0) errors.push(forbidden(`${at}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    } else errors.push(invalid(`${at}.operator`, operator ?? "", "not a valid selector operator"));
  });
  return errors;
}

function isEmptySelector(selector: Members): boolean {
  return Object.keys(membersAt(selector, "matchLabels")).length === 0 && listIn(selector, "matchExpressions").length === 0;
}

/** What is wrong with a count. */
export function notNegative(value: unknown, field: string): readonly FieldError[] {
  return typeof value === "number" && value < 0 ? [invalid(field, value, NOT_NEGATIVE)] : [];
}
