import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { AnyResource } from "@isthmus/core";
import { expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { describeReal } from "../harness/describeReal.ts";
import { type ChartName, chartFolder, helm, renderedObjects } from "../harness/helm.ts";
import { type PodSpec, podsIn } from "./rendered.ts";

const REQUIRED = { relay: { cluster: "east", serverAddress: "mgmt.example:9900" } };
const CHARTS: readonly (readonly [ChartName, string, object])[] = [
  ["gloo-mesh-agent", "agent", REQUIRED],
  ["gloo-mesh-mgmt-server", "server", {}],
];

describeReal("what operators expect of a chart", (components) => {
  it.each(["gloo-mesh-crds", "gloo-mesh-mgmt-server"] as const)(
    "%s has nothing that Helm's linter advises, an icon included",
    async (chart) => {
      const { code, stdout } = await helm({ components }, ["lint", chartFolder(chart), "--strict"]);
      expect(code, stdout).toBe(0);
      // The CRDs have no values.
      expect(stdout.split("\n").filter((line) => /^\[/.test(line) && !line.includes("values.yaml: file does not exist"))).toEqual([]);
    },
  );

  it.each(CHARTS)(
    "%s labels every object and pod, pins images, and binds its rights to the account that is named",
    async (chart, _, required) => {
      const digest = `sha256:${"a".repeat(64)}`;
      const serviceAccount = { create: false, name: "platform" };
      const values = {
        ...required,
        commonLabels: { team: "mesh" },
        image: { digest },
        serviceAccount,
        // Rights in single namespaces are made one by one.
        ...(chart === "gloo-mesh-agent" ? { meshCertificates: { namespaces: ["istio-system"] }, limits: { writeNamespaces: ["a"] } } : {}),
      };
      const objects = await renderedObjects({ components, chart, values, kubeVersion: "1.30.0" });
      expect(
        objects.filter(({ metadata }) => metadata.labels?.["team"] !== "mesh").map(({ kind, metadata }) => `${kind} ${metadata.name}`),
      ).toEqual([]);
      const pods = podsIn(objects);
      for (const { labels } of pods) expect(labels).toMatchObject({ team: "mesh" });
      const own = pods.find(({ name }) => name === chart) ?? expect.unreachable(`no pod of ${chart}`);
      expect(own.spec.serviceAccountName).toBe("platform");
      expect(JSON.stringify(own.spec.containers)).toContain(`${chart}:0.1.0@${digest}`);
      const subjects = objects.flatMap((object) => (object as AnyResource & { subjects?: readonly { name: string }[] }).subjects ?? []);
      expect(new Set(subjects.map(({ name }) => name).filter((name) => name !== "gloo-mesh-ui"))).toEqual(new Set(["platform"]));
      expect(objects.some(({ kind, metadata }) => kind === "ServiceAccount" && metadata.name !== "gloo-mesh-ui")).toBe(false);
      if (chart === "gloo-mesh-agent")
        expect(JSON.stringify(objects.find(({ kind }) => kind === "ValidatingAdmissionPolicy"))).toContain(
          "system:serviceaccount:gloo-mesh:platform",
        );
    },
  );

  it.each(CHARTS)("%s: helm test asks whether the program is ready, and fails while it is not", async (chart, container, required) => {
    const args = [
      "template",
      chart,
      chartFolder(chart),
      "--namespace=gloo-mesh",
      "--kube-version=1.28.0",
      "--show-only=templates/tests/answers.yaml",
    ];
    const { code, stdout, stderr } = await helm({ components }, args, { ...required });
    expect(code, stderr).toBe(0);
    const objects = parseAllDocuments(stdout).map((document) => document.toJS() as AnyResource & { spec: PodSpec });
    for (const { metadata } of objects) expect(metadata.annotations?.["helm.sh/hook"]).toBe("test");
    const pod = objects.find(({ kind }) => kind === "Pod") ?? expect.unreachable(`no test of the ${container}`);
    const [script = ""] = pod.spec.containers[0]?.command?.slice(-1) ?? [];
    const statuses = [503, 200];
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url ?? "");
      response.writeHead(statuses[Math.min(asked.length, statuses.length) - 1] ?? 500).end("state");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const url = /http:\/\/[a-z-]+\.gloo-mesh:9091/;
      expect(script).toMatch(url);
      const here = script.replace(url, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
      const out = await new Promise<string>((resolve, reject) =>
        execFile(process.execPath, ["--input-type=module", "--eval", here], (error, text) =>
          error === null ? resolve(text) : reject(error),
        ),
      );
      expect(asked).toEqual(["/readyz", "/readyz"]);
      expect(out).toMatch(/503 state\n.*200 state\n$/s);
      // Without anybody there it ends as failed, once its time is over.
      const late = here.replace("120_000", "0").replace(/127\.0\.0\.1:\d+/, "127.0.0.1:1");
      await expect(
        new Promise((resolve, reject) =>
          execFile(process.execPath, ["--input-type=module", "--eval", late], (error) => (error === null ? resolve(0) : reject(error))),
        ),
      ).rejects.toMatchObject({ code: 1 });
    } finally {
      server.close();
    }
  });
});
