import { isMembers, type Members, membersAt } from "../../apply/json.ts";
import { filled, withChanged } from "./filled.ts";

/** A pod's spec as API servers complete it. Source: pkg/apis/core/v1/defaults.go of Kubernetes 1.34. */
export function podSpecDefaults(spec: Members): Members {
  const completed = withChanged(spec, {
    containers: (container) => containerDefaults(container, spec),
    initContainers: (container) => containerDefaults(container, spec),
    ephemeralContainers: (container) => containerDefaults(container, spec),
    volumes: volumeDefaults,
  });
  const account = completed["serviceAccountName"] ?? completed["serviceAccount"];
  const accounts = account === undefined || account === "" ? {} : { serviceAccountName: account, serviceAccount: account };
  return {
    ...filled(completed, {
      dnsPolicy: "ClusterFirst",
      restartPolicy: "Always",
      securityContext: {},
      terminationGracePeriodSeconds: 30,
      schedulerName: "default-scheduler",
    }),
    ...accounts,
  };
}

/** What a pod gets beside what its template has. */
export function podDefaults(content: Members): Members {
  const spec = podSpecDefaults(membersAt(content, "spec"));
  const priority = { enableServiceLinks: true, preemptionPolicy: "PreemptLowerPriority", priority: 0 };
  const completed = filled(withChanged(spec, { containers: withRequests, initContainers: withRequests }), priority);
  const status = membersAt(content, "status");
  return {
    ...content,
    spec: { ...completed, tolerations: tolerations(completed["tolerations"]) },
    status: filled(status, { phase: "Pending", qosClass: qosClass(completed) }),
  };
}

function tolerations(given: unknown): readonly unknown[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [];
  const added = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"].filter((key) => {
    const covers = (each: unknown) =>
      isMembers(each) &&
      (each["key"] === key || each["key"] === undefined || each["key"] === "") &&
      (each["effect"] ?? "NoExecute") === "NoExecute";
    return !list.some(covers);
  });
  return [...list, ...added.map((key) => ({ key, operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 }))];
}

/** Requests that are not given are as large as limits. */
function withRequests(container: Members): Members {
  const resources = membersAt(container, "resources");
  const limits = resources["limits"];
  if (!isMembers(limits)) return container;
  return { ...container, resources: { ...resources, requests: filled(membersAt(resources, "requests"), limits) } };
}

function qosClass(spec: Members): string {
  const containers = [spec["containers"], spec["initContainers"]].flatMap((list) => (Array.isArray(list) ? list.filter(isMembers) : []));
  const sizes = containers.map((container) => {
    const { requests = {}, limits = {} } = membersAt(container, "resources") as { requests?: Members; limits?: Members };
    return { requests, limits };
  });
  if (sizes.every(({ requests, limits }) => Object.keys(requests).length === 0 && Object.keys(limits).length === 0)) return "BestEffort";
  const isGuaranteed = sizes.every(({ requests, limits }) =>
    ["cpu", "memory"].every((name) => limits[name] !== undefined && String(requests[name]) === String(limits[name])),
  );
  return isGuaranteed ? "Guaranteed" : "Burstable";
}

function containerDefaults(container: Members, spec: Members): Members {
  const probe = (each: Members) =>
    filled(withChanged(each, { httpGet: httpGetDefaults, grpc: (grpc) => filled(grpc, { service: "" }) }), {
      timeoutSeconds: 1,
      periodSeconds: 10,
      successThreshold: 1,
      failureThreshold: 3,
    });
  const hook = (each: Members) => withChanged(each, { httpGet: httpGetDefaults });
  const completed = withChanged(container, {
    ports: (port) => {
      const withProtocol = filled(port, { protocol: "TCP" });
      return spec["hostNetwork"] === true && withProtocol["hostPort"] === undefined
        ? { ...withProtocol, hostPort: withProtocol["containerPort"] }
        : withProtocol;
    },
    env: (variable) =>
      withChanged(variable, {
        valueFrom: (source) =>
          withChanged(source, {
            fieldRef: (ref) => filled(ref, { apiVersion: "v1" }),
            resourceFieldRef: (ref) => filled(ref, { divisor: "0" }),
          }),
      }),
    livenessProbe: probe,
    readinessProbe: probe,
    startupProbe: probe,
    lifecycle: (each) => withChanged(each, { postStart: hook, preStop: hook }),
  });
  return filled(completed, {
    imagePullPolicy: isLatest(String(container["image"] ?? "")) ? "Always" : "IfNotPresent",
    resources: {},
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
  });
}

function httpGetDefaults(get: Members): Members {
  return filled(get, { path: "/", scheme: "HTTP" });
}

function isLatest(image: string): boolean {
  const last = image.slice(image.lastIndexOf("/") + 1);
  return !last.includes("@") && (!last.includes(":") || last.endsWith(":latest"));
}

const SOURCES = [
  "hostPath",
  "emptyDir",
  "gcePersistentDisk",
  "awsElasticBlockStore",
  "secret",
  "nfs",
  "iscsi",
  "persistentVolumeClaim",
  "configMap",
  "downwardAPI",
  "projected",
  "csi",
  "ephemeral",
  "image",
];

function volumeDefaults(volume: Members): Members {
  const known = SOURCES.some((source) => volume[source] !== undefined && volume[source] !== null);
  const mode = (each: Members) => filled(each, { defaultMode: 420 });
  return withChanged(known ? volume : { ...volume, emptyDir: {} }, {
    secret: mode,
    configMap: mode,
    downwardAPI: mode,
    projected: (projected) =>
      withChanged(mode(projected), {
        sources: (source) => withChanged(source, { serviceAccountToken: (token) => filled(token, { expirationSeconds: 3600 }) }),
      }),
    hostPath: (path) => filled(path, { type: "" }),
  });
}
