import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BenchmarkOptions, Figures } from "./benchmarks.ts";
import { rounded } from "./measure.ts";

/** How the objects of an input stand in their file. */
export type OfflineForm = "documents" | "list" | "json";

/** `meshctl validate` on one file of Services, as kubectl prints them: as documents of their own, as a List, and as a List of JSON. */
export function offlineBenchmark(form: OfflineForm): (options: BenchmarkOptions) => Iterable<Figures> {
  return function* ({ smoke, services = smoke ? 1_000 : 100_000 }) {
    const folder = mkdtempSync(join(tmpdir(), "isthmus-bench-"));
    try {
      const file = join(folder, form === "json" ? "input.json" : "input.yaml");
      writeInput(file, form, services);
      const { userCPUTime, systemCPUTime, maxRSS } = usageOf(["validate", "-f", file]);
      const inputMiB = rounded(statSync(file).size / 1024 / 1024);
      const cpuMs = rounded((userCPUTime + systemCPUTime) / 1000);
      yield { name: `offline-${form}`, services, inputMiB, cpuMs, rssMiB: rounded(maxRSS / 1024) };
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
}

const MESHCTL = join(process.cwd(), "apps/meshctl/bin/meshctl.js");
// The process itself says at its end what it took; its last line.
const USAGE = `process.on("exit", () => process.stderr.write("\\n" + JSON.stringify(process.resourceUsage())))`;

/** What the built program takes, as users run it. */
function usageOf(args: readonly string[]): NodeJS.ResourceUsage {
  const { status, stderr } = spawnSync(
    process.execPath,
    ["--import", `data:text/javascript,${encodeURIComponent(USAGE)}`, MESHCTL, ...args],
    {
      encoding: "utf8",
    },
  );
  if (status !== 0) throw new Error(`meshctl ${args.join(" ")} ended with exit code ${status}: ${stderr}`);
  return JSON.parse(stderr.slice(stderr.lastIndexOf("\n"))) as NodeJS.ResourceUsage;
}

/** Written in parts, so that it takes no memory that counts. */
function writeInput(file: string, form: OfflineForm, count: number): void {
  const descriptor = openSync(file, "w");
  const [begin, end] = ENVELOPES[form];
  writeSync(descriptor, begin);
  for (let i = 0; i < count; i++) writeSync(descriptor, ITEMS[form](service(i), i === 0));
  writeSync(descriptor, end);
  closeSync(descriptor);
}

const ENVELOPES: Readonly<Record<OfflineForm, readonly [string, string]>> = {
  documents: ["", ""],
  list: ["apiVersion: v1\nitems:\n", 'kind: List\nmetadata:\n  resourceVersion: ""\n'],
  json: ['{\n  "apiVersion": "v1",\n  "kind": "List",\n  "items": [\n', "\n  ]\n}\n"],
};

const ITEMS: Readonly<Record<OfflineForm, (yaml: string, isFirst: boolean) => string>> = {
  documents: (yaml, isFirst) => `${isFirst ? "" : "---\n"}${yaml}\n`,
  list: (yaml) => `- ${yaml.replaceAll("\n", "\n  ")}\n`,
  json: (yaml, isFirst) => `${isFirst ? "" : ",\n"}${JSON.stringify(jsonService(yaml), undefined, 2)}`,
};

function service(i: number): string {
  return `apiVersion: v1
kind: Service
metadata:
  annotations:
    prometheus.io/scrape: "true"
  clusterName: east
  creationTimestamp: "2026-01-01T00:00:00Z"
  labels:
    app: service-${i}
  name: service-${i}
  namespace: namespace-${i % 100}
  resourceVersion: "${i}"
  uid: 6f5902ac-237b-4b7e-a1e0-${String(i).padStart(12, "0")}
spec:
  clusterIP: 10.0.0.1
  ports:
  - name: http
    port: 80
    protocol: TCP
    targetPort: 8080
  selector:
    app: service-${i}
  sessionAffinity: None
  type: ClusterIP
status:
  loadBalancer: {}`;
}

/** The same object, with what differs from one to the next. */
function jsonService(yaml: string): object {
  const [name = ""] = /service-\d+/.exec(yaml) ?? [];
  const [namespace = ""] = /namespace-\d+/.exec(yaml) ?? [];
  const [uid = ""] = /6f5902ac-[0-9a-f-]+/.exec(yaml) ?? [];
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: {
      annotations: { "prometheus.io/scrape": "true" },
      clusterName: "east",
      creationTimestamp: "2026-01-01T00:00:00Z",
      labels: { app: name },
      name,
      namespace,
      resourceVersion: name,
      uid,
    },
    spec: {
      clusterIP: "10.0.0.1",
      ports: [{ name: "http", port: 80, protocol: "TCP", targetPort: 8080 }],
      selector: { app: name },
      sessionAffinity: "None",
      type: "ClusterIP",
    },
    status: { loadBalancer: {} },
  };
}
