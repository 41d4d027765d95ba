import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { demoContent } from "../src/demoContent.ts";

function folderWith(cluster: object, user: object): string {
  const folder = mkdtempSync(join(tmpdir(), "demo-kubeconfig-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, ".isthmus"));
  const content = {
    "current-context": "mgmt",
    clusters: [{ name: "mgmt", cluster }],
    users: [{ name: "mgmt", user }],
    contexts: [{ name: "mgmt", context: { cluster: "mgmt", user: "mgmt" } }],
  };
  writeFileSync(join(folder, ".isthmus/kubeconfig"), JSON.stringify(content));
  return folder;
}

const server = "https://localhost:8443";

it("finds the clusters of a demo by the names of their contexts", () => {
  const folder = folderWith({ server }, { token: "t" });
  expect(demoContent("mgmt", folder)).toMatchObject({ currentContext: "mgmt", clusters: [{ server }], users: [{ token: "t" }] });
  expect(demoContent("cluster-1", folder)).toBeUndefined();
  expect(demoContent("mgmt", tmpdir())).toBeUndefined();
});

it("takes nothing but tokens for loopback from a file that lies in some folder", () => {
  expect(demoContent("mgmt", folderWith({ server: "https://example.com" }, { token: "t" }))).toBeUndefined();
  expect(demoContent("mgmt", folderWith({ server, "proxy-url": "http://example.com" }, { token: "t" }))).toBeUndefined();
  expect(
    demoContent("mgmt", folderWith({ server }, { exec: { command: "sh", apiVersion: "client.authentication.k8s.io/v1" } })),
  ).toBeUndefined();
  const both = folderWith({ server }, { token: "t", exec: { command: "sh", apiVersion: "client.authentication.k8s.io/v1" } });
  expect(demoContent("mgmt", both)?.users).toEqual([{ name: "mgmt", token: "t" }]);
});
