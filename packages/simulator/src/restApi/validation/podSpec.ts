import { isMembers, type Members, membersAt } from "../../apply/json.ts";
import type { FieldError } from "../apiError.ts";
import { duplicate, forbidden, invalid, notFoundField, required, unsupported, unsupportedOf } from "../fieldErrors.ts";
import { nanosOf } from "../types/quantity.ts";
import { labelProblems, portNameProblems, qualifiedNameProblems, subdomainProblems } from "./names.ts";

/** What is wrong with a pod's spec. Source: pkg/apis/core/validation/validation.go. */
export function podSpecErrors(
  spec: Members,
  field: string,
  { policies = ALL_POLICIES }: { readonly policies?: readonly string[] } = {},
): readonly FieldError[] {
  const errors: FieldError[] = [];
  const volumes = listIn(spec, "volumes");
  const names = new Set<unknown>();
  volumes.forEach((volume, i) => {
    const path = `${field}.volumes[${i}]`;
    errors.push(...nameErrors(volume["name"], `${path}.name`));
    if (names.has(volume["name"])) errors.push(duplicate(`${path}.name`, volume["name"]));
    names.add(volume["name"]);
  });
  const containers = listIn(spec, "containers");
  if (containers.length === 0) errors.push(required(`${field}.containers`));
  const known = new Set<unknown>();
  for (const [list, all] of [
    ["containers", containers],
    ["initContainers", listIn(spec, "initContainers")],
  ] as const) {
    all.forEach((container, i) => {
      const path = `${field}.${list}[${i}]`;
      errors.push(...containerErrors(container, path, names));
      if (known.has(container["name"])) errors.push(duplicate(`${path}.name`, container["name"]));
      known.add(container["name"]);
    });
  }
  const { restartPolicy = "" } = spec;
  if (restartPolicy !== "" && !policies.includes(String(restartPolicy)))
    errors.push(unsupportedOf(`${field}.restartPolicy`, restartPolicy, policies));
  errors.push(...oneOf(spec["dnsPolicy"], `${field}.dnsPolicy`, ["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"]));
  const grace = spec["terminationGracePeriodSeconds"];
  if (typeof grace === "number" && grace < 0)
    errors.push(invalid(`${field}.terminationGracePeriodSeconds`, grace, "must be greater than or equal to 0"));
  const deadline = spec["activeDeadlineSeconds"];
  if (typeof deadline === "number" && deadline < 1)
    errors.push(invalid(`${field}.activeDeadlineSeconds`, deadline, "must be between 1 and 2147483647, inclusive"));
  const account = spec["serviceAccountName"];
  if (typeof account === "string" && account !== "") {
    errors.push(...subdomainProblems(account).map((problem) => invalid(`${field}.serviceAccountName`, account, problem)));
  }
  return errors;
}

const ALL_POLICIES = ["Always", "OnFailure", "Never"];

function containerErrors(container: Members, path: string, volumes: ReadonlySet<unknown>): readonly FieldError[] {
  const errors: FieldError[] = [...nameErrors(container["name"], `${path}.name`)];
  const { image } = container;
  if (image === undefined || image === "") errors.push(required(`${path}.image`));
  else if (typeof image === "string" && image.trim() !== image)
    errors.push(invalid(`${path}.image`, image, "must not have leading or trailing whitespace"));
  const portNames = new Set<unknown>();
  listIn(container, "ports").forEach((port, i) => {
    const at = `${path}.ports[${i}]`;
    const { name, containerPort, hostPort, protocol } = port;
    if (typeof name === "string" && name !== "") {
      errors.push(...portNameProblems(name).map((problem) => invalid(`${at}.name`, name, problem)));
      if (portNames.has(name)) errors.push(duplicate(`${at}.name`, name));
      portNames.add(name);
    }
    if (containerPort === undefined || containerPort === 0) errors.push(required(`${at}.containerPort`));
    else errors.push(...portErrors(containerPort, `${at}.containerPort`));
    if (hostPort !== undefined && hostPort !== 0) errors.push(...portErrors(hostPort, `${at}.hostPort`));
    errors.push(...oneOf(protocol, `${at}.protocol`, ["SCTP", "TCP", "UDP"]));
  });
  listIn(container, "env").forEach((variable, i) => {
    const { name, value, valueFrom } = variable;
    const at = `${path}.env[${i}]`;
    if (name === undefined || name === "") errors.push(required(`${at}.name`));
    if (isMembers(valueFrom) && value !== undefined && value !== "")
      errors.push(invalid(`${at}.valueFrom`, "", "may not be specified when `value` is not empty"));
  });
  const mounts = new Set<unknown>();
  listIn(container, "volumeMounts").forEach((mount, i) => {
    const { name, mountPath } = mount;
    const at = `${path}.volumeMounts[${i}]`;
    if (name === undefined || name === "") errors.push(required(`${at}.name`));
    else if (!volumes.has(name)) errors.push(notFoundField(`${at}.name`, name));
    if (mountPath === undefined || mountPath === "") errors.push(required(`${at}.mountPath`));
    if (mounts.has(mountPath)) errors.push(invalid(`${at}.mountPath`, mountPath, "must be unique"));
    mounts.add(mountPath);
  });
  errors.push(...oneOf(container["imagePullPolicy"], `${path}.imagePullPolicy`, ["Always", "IfNotPresent", "Never"]));
  errors.push(...oneOf(container["terminationMessagePolicy"], `${path}.terminationMessagePolicy`, ["FallbackToLogsOnError", "File"]));
  errors.push(...resourceErrors(membersAt(container, "resources"), `${path}.resources`));
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const found = container[probe];
    if (isMembers(found)) errors.push(...probeErrors(found, `${path}.${probe}`));
  }
  return errors;
}

const HANDLERS = ["exec", "httpGet", "tcpSocket", "grpc"];

function probeErrors(probe: Members, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const handlers = HANDLERS.filter((handler) => isMembers(probe[handler]));
  if (handlers.length === 0) errors.push(required(path, "must specify a handler type"));
  for (const extra of handlers.slice(1)) errors.push(forbidden(`${path}.${extra}`, "may not specify more than 1 handler type"));
  for (const field of ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"]) {
    const value = probe[field];
    if (typeof value === "number" && value < 0) errors.push(invalid(`${path}.${field}`, value, "must be greater than or equal to 0"));
  }
  return errors;
}

function resourceErrors(resources: Members, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  const limits = membersAt(resources, "limits");
  const requests = membersAt(resources, "requests");
  for (const [list, quantities] of [
    ["limits", limits],
    ["requests", requests],
  ] as const) {
    for (const [name, quantity] of Object.entries(quantities)) {
      const at = `${path}.${list}[${name}]`;
      errors.push(...qualifiedNameProblems(name).map((problem) => invalid(at, name, problem)));
      if (!name.includes("/") && !STANDARD.test(name))
        errors.push(invalid(at, name, "must be a standard resource type or fully qualified"));
      if ((nanosOf(String(quantity)) ?? 0n) < 0n) errors.push(invalid(at, String(quantity), "must be greater than or equal to 0"));
    }
  }
  for (const [name, quantity] of Object.entries(requests)) {
    const limit = limits[name];
    if (limit !== undefined && (nanosOf(String(quantity)) ?? 0n) > (nanosOf(String(limit)) ?? 0n)) {
      errors.push(invalid(`${path}.requests`, String(quantity), `must be less than or equal to ${name} limit of ${String(limit)}`));
    }
  }
  return errors;
}

const STANDARD = /^(cpu|memory|ephemeral-storage|storage|hugepages-.+)$/;

function nameErrors(name: unknown, path: string): readonly FieldError[] {
  if (typeof name !== "string" || name === "") return [required(path)];
  return labelProblems(name).map((problem) => invalid(path, name, problem));
}

/** What is wrong with a port's number. */
export function portErrors(port: unknown, path: string): readonly FieldError[] {
  const isPort = typeof port === "number" && port >= 1 && port <= 65_535;
  return isPort ? [] : [invalid(path, port ?? 0, "must be between 1 and 65535, inclusive")];
}

/** Nothing, unless the value is there and none of those. */
export function oneOf(value: unknown, path: string, values: readonly string[]): readonly FieldError[] {
  return value === undefined || value === "" || values.includes(String(value)) ? [] : [unsupported(path, value, values)];
}

/** The objects of a list. */
export function listIn(value: Members, name: string): readonly Members[] {
  const list = value[name];
  return Array.isArray(list) ? list.filter(isMembers) : [];
}
