import { expect, it } from "vitest";
import { managementCluster, runIn } from "./planeRun.ts";

const plane = managementCluster([]);

it.each([
  [["install", "enterprise", "--license", "KEY"], /^error: --license: is not supported; none is needed: leave it out\n$/],
  [["install", "community", "-r"], /^error: --register: .*run meshctl cluster register NAME afterwards\n$/],
  [["install", "--version", "1.2.0"], /^error: --version: .*use meshctl of that version\n$/],
  [["install", "pro"], /Allowed choices are community, enterprise/],
  [["install", "--release-name", "other"], /Allowed choices are gloo-mesh/],
  [["uninstall", "--release-name", "other"], /Allowed choices are gloo-mesh/],
  [
    ["cluster", "register", "enterprise", "east", "--relay-server-insecure"],
    /--relay-server-insecure: is not supported; the relay always uses TLS/,
  ],
])("refuses %j of the published commands with a remedy, and exit code 2", async (args, message) => {
  expect(await runIn(plane, args)).toMatchObject({ code: 2, out: "", err: expect.stringMatching(message) });
});

it("follows check as the published one is called", async () => {
  const published = await runIn(plane, ["check", "--kubecontext", "mgmt", "--local-port", "9091", "--remote-port", "9091"]);
  expect(published).toEqual(await runIn(plane, ["check"]));
});

it("reads community and enterprise as the one edition that there is", async () => {
  const dryRun = async (...args: readonly string[]) =>
    runIn(plane, ["install", ...args], undefined, {
      connectApiServer: async () => {
        throw new TypeError("reached");
      },
    });
  for (const edition of ["community", "enterprise"]) {
    expect((await dryRun(edition, "--release-name", "gloo-mesh", "-d")).err).toContain("reached");
  }
});

it.each([
  [["check", "--fail-onn", "error"], "--fail-on"],
  [["cluster", "register", "east", "--remote-contxt", "x"], "--remote-context"],
  [["get", "meshes", "--kubeconfg", "x"], "--kubeconfig"],
])("names the nearest flag: %j", async (args, nearest) => {
  expect(await runIn(plane, args)).toMatchObject({ code: 2, err: expect.stringContaining(`(Did you mean ${nearest}?)`) });
});
