import { isMembers, type Members, membersAt } from "../../apply/json.ts";
import type { FieldError } from "../apiError.ts";
import { duplicate, invalid, required } from "../fieldErrors.ts";
import { labelErrors } from "./metadata.ts";
import { labelProblems, portNameProblems, subdomainProblems } from "./names.ts";
import { listIn, oneOf, portErrors } from "./podSpec.ts";
import { type Checked, notNegative, selectorErrors } from "./workloads.ts";

const TYPES = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

/** Of Services. Source: pkg/apis/core/validation/validation.go, ValidateService. */
export function serviceErrors({ object, before }: Checked): readonly FieldError[] {
  const spec = membersAt(object, "spec");
  const errors: FieldError[] = [];
  const ports = listIn(spec, "ports");
  const type = spec["type"] ?? "ClusterIP";
  if (ports.length === 0 && spec["clusterIP"] !== "None" && type !== "ExternalName") errors.push(required("spec.ports"));
  const names = new Set<unknown>();
  ports.forEach((port, i) => {
    const at = `spec.ports[${i}]`;
    const { name = "", port: number, targetPort, protocol } = port;
    if (name === "") {
      if (ports.length > 1) errors.push(required(`${at}.name`));
    } else {
      errors.push(...labelProblems(String(name)).map((problem) => invalid(`${at}.name`, name, problem)));
      if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
      names.add(name);
    }
    errors.push(...portErrors(number ?? 0, `${at}.port`));
    errors.push(...oneOf(protocol, `${at}.protocol`, ["SCTP", "TCP", "UDP"]));
    if (typeof targetPort === "string" && targetPort !== "") {
      errors.push(...portNameProblems(targetPort).map((problem) => invalid(`${at}.targetPort`, targetPort, problem)));
    }
    if (typeof targetPort === "number" && targetPort !== 0) errors.push(...portErrors(targetPort, `${at}.targetPort`));
  });
  errors.push(...labelErrors(spec["selector"], "spec.selector"));
  errors.push(...oneOf(spec["sessionAffinity"], "spec.sessionAffinity", ["ClientIP", "None"]));
  errors.push(...oneOf(type, "spec.type", TYPES));
  const seen = new Set<string>();
  ports.forEach(({ port, protocol = "TCP" }, i) => {
    const key = `${String(port)}/${String(protocol)}`;
    if (seen.has(key))
      errors.push({
        reason: "FieldValueDuplicate",
        field: `spec.ports[${i}]`,
        message: `Duplicate value: {"Name":"","Protocol":${JSON.stringify(protocol)},"AppProtocol":null,"Port":${String(port)},"TargetPort":0,"NodePort":0}`,
      });
    seen.add(key);
  });
  if (type === "ExternalName") {
    const host = String(spec["externalName"] ?? "").replace(/\.$/, "");
    if (host === "") errors.push(required("spec.externalName"));
    else errors.push(...subdomainProblems(host).map((problem) => invalid("spec.externalName", host, problem)));
  }
  errors.push(...rangeErrors(spec, before === undefined));
  const old = before === undefined ? undefined : membersAt(before, "spec");
  if (old !== undefined && type !== "ExternalName" && old["type"] !== "ExternalName") {
    const [was, is] = [old["clusterIP"], spec["clusterIP"]];
    if (was !== undefined && was !== "" && is !== was) {
      errors.push({
        reason: "FieldValueInvalid",
        field: "spec.clusterIPs[0]",
        message: `Invalid value: ${JSON.stringify([is])}: may not change once set`,
      });
    }
  }
  return errors;
}

/** Addresses and ports that no cluster of these ranges gives: 10.96.0.0/12 and 30000–32767. */
function rangeErrors(spec: Members, isNew: boolean): readonly FieldError[] {
  const { clusterIP = "" } = spec;
  const [first, second = 0] = String(clusterIP).split(".").map(Number);
  const isInside = clusterIP === "" || clusterIP === "None" || (first === 10 && second >= 96 && second < 112);
  if (isNew && !isInside) {
    const words = `failed to allocate IP ${String(clusterIP)}: the provided network does not match the current range`;
    return [invalid("spec.clusterIPs", [clusterIP], words)];
  }
  return listIn(spec, "ports").flatMap(({ nodePort }, i) => {
    if (typeof nodePort !== "number" || nodePort === 0 || (nodePort >= 30_000 && nodePort <= 32_767)) return [];
    return [
      invalid(`spec.ports[${i}].nodePort`, nodePort, "provided port is not in the valid range. The range of valid ports is 30000-32767"),
    ];
  });
}

/** Of Ingresses. */
export function ingressErrors({ object }: Checked): readonly FieldError[] {
  const spec = membersAt(object, "spec");
  const errors: FieldError[] = [];
  const rules = listIn(spec, "rules");
  if (rules.length === 0 && !isMembers(spec["defaultBackend"]))
    errors.push(invalid("spec", null, "either `defaultBackend` or `rules` must be specified"));
  rules.forEach((rule, i) => {
    listIn(membersAt(rule, "http"), "paths").forEach((path, j) => {
      const at = `spec.rules[${i}].http.paths[${j}]`;
      const { pathType } = path;
      if (pathType === undefined || pathType === null || pathType === "")
        errors.push(required(`${at}.pathType`, "pathType must be specified"));
      else errors.push(...oneOf(pathType, `${at}.pathType`, ["Exact", "ImplementationSpecific", "Prefix"]));
      const text = String(path["path"] ?? "");
      if (pathType !== "ImplementationSpecific" && !text.startsWith("/"))
        errors.push(invalid(`${at}.path`, text, "must be an absolute path"));
      const service = membersAt(membersAt(path, "backend"), "service");
      if (Object.keys(service).length === 0) errors.push(required(`${at}.backend`, "either `service` or `resource` must be specified"));
    });
  });
  return errors;
}

/** Of HorizontalPodAutoscalers. */
export function autoscalerErrors({ object }: Checked): readonly FieldError[] {
  const spec = membersAt(object, "spec");
  const errors: FieldError[] = [];
  const { minReplicas, maxReplicas } = spec;
  if (typeof minReplicas === "number" && minReplicas < 1)
    errors.push(invalid("spec.minReplicas", minReplicas, "must be greater than or equal to 1"));
  if (typeof maxReplicas !== "number" || maxReplicas < 1)
    errors.push(invalid("spec.maxReplicas", maxReplicas ?? 0, "must be greater than 0"));
  if (typeof minReplicas === "number" && typeof maxReplicas === "number" && maxReplicas < minReplicas) {
    errors.push(invalid("spec.maxReplicas", maxReplicas, "must be greater than or equal to `minReplicas`"));
  }
  const target = membersAt(spec, "scaleTargetRef");
  for (const field of ["kind", "name"]) if ((target[field] ?? "") === "") errors.push(required(`spec.scaleTargetRef.${field}`));
  return errors;
}

/** Of PodDisruptionBudgets. */
export function budgetErrors({ object }: Checked): readonly FieldError[] {
  const spec = membersAt(object, "spec");
  const { minAvailable, maxUnavailable, selector } = spec;
  const errors: FieldError[] = [];
  if (minAvailable !== undefined && maxUnavailable !== undefined) {
    const both = {
      MinAvailable: minAvailable,
      Selector: selector ?? null,
      MaxUnavailable: maxUnavailable,
      UnhealthyPodEvictionPolicy: spec["unhealthyPodEvictionPolicy"] ?? null,
    };
    errors.push(invalid("spec", both, "minAvailable and maxUnavailable cannot be both set"));
  }
  errors.push(...notNegative(minAvailable, "spec.minAvailable"), ...notNegative(maxUnavailable, "spec.maxUnavailable"));
  if (isMembers(selector)) errors.push(...selectorErrors(selector, "spec.selector"));
  return errors;
}
