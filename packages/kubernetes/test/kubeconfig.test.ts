import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { UsageError } from "@isthmus/core";
import { afterAll, describe, expect, it, vi } from "vitest";
import { loadKubeconfig } from "../src/index.ts";

const directory = mkdtempSync(join(tmpdir(), "isthmus-kubeconfig-"));
afterAll(() => rmSync(directory, { recursive: true }));

function fileWith(name: string, text: string): string {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
}

const base = {
  apiVersion: "v1",
  kind: "Config",
  clusters: [
    { name: "one", cluster: { server: "https://one.example:6443/", "certificate-authority-data": Buffer.from("CA").toString("base64") } },
    { name: "two", cluster: { server: "https://two.example/k8s/clusters/c-1", "tls-server-name": "inner.example" } },
  ],
  users: [
    { name: "ann", user: { token: "t" } },
    { name: "bob", user: { username: "bob", password: "pw" } },
    { name: "cert", user: { "client-certificate": "client.crt", "client-key": "client.key" } },
  ],
  contexts: [
    { name: "ann@one", context: { cluster: "one", user: "ann" } },
    { name: "bob@two", context: { cluster: "two", user: "bob" } },
    { name: "nobody@one", context: { cluster: "one" } },
    { name: "cert@two", context: { cluster: "two", user: "cert" } },
    { name: "lost", context: { cluster: "three", user: "ann" } },
  ],
  "current-context": "ann@one",
};
const text = JSON.stringify(base);

describe("a kubeconfig", () => {
  it("says where the API server is and whom to be", async () => {
    const kubeconfig = loadKubeconfig({ text });
    expect(kubeconfig.server).toBe("https://one.example:6443");
    expect(await kubeconfig.credentials(false)).toEqual({ headers: { authorization: "Bearer t" }, tls: { ca: Buffer.from("CA") } });
  });

  it("has other contexts", async () => {
    const kubeconfig = loadKubeconfig({ text, context: "bob@two" });
    expect(kubeconfig.server).toBe("https://two.example/k8s/clusters/c-1");
    const authorization = `Basic ${Buffer.from("bob:pw").toString("base64")}`;
    expect(await kubeconfig.credentials(false)).toEqual({ headers: { authorization }, tls: { servername: "inner.example" } });
  });

  it("names a user that it does not have", () => {
    const lost = JSON.stringify({ ...base, contexts: [{ name: "x", context: { cluster: "one", user: "an" } }], "current-context": "x" });
    expect(() => loadKubeconfig({ text: lost })).toThrow(
      new UsageError("the given kubeconfig: context x names user an, which is not in it; available users: ann, bob, cert"),
    );
  });

  it("says what to do about a server without encryption", async () => {
    const plain = JSON.stringify({ ...base, clusters: [{ name: "one", cluster: { server: "http://127.0.0.1:8001" } }] });
    await expect(loadKubeconfig({ text: plain }).credentials(false)).rejects.toThrow(
      new UsageError(
        "the given kubeconfig: server http://127.0.0.1:8001 is not encrypted: write https://, or, if it is a proxy such as kubectl proxy on this machine, set insecure-skip-tls-verify: true for cluster one",
      ),
    );
  });

  it("checks the server even for a context without user", async () => {
    expect(await loadKubeconfig({ text, context: "nobody@one" }).credentials(false)).toEqual({
      headers: {},
      tls: { ca: Buffer.from("CA") },
    });
  });

  it("finds files beside it, and reads them each time", async () => {
    const kubeconfig = loadKubeconfig({ path: fileWith("config", text), context: "cert@two" });
    for (const generation of ["1", "2"]) {
      fileWith("client.crt", `crt ${generation}`);
      fileWith("client.key", `key ${generation}`);
      const { tls } = await kubeconfig.credentials(false);
      expect([String(tls.cert), String(tls.key)]).toEqual([`crt ${generation}`, `key ${generation}`]);
    }
  });

  it("is read again when its credentials are refused", async () => {
    const path = fileWith("rotated", text);
    const kubeconfig = loadKubeconfig({ path });
    fileWith("rotated", text.replace('"token":"t"', '"token":"newer"'));
    expect((await kubeconfig.credentials(true)).headers).toEqual({ authorization: "Bearer newer" });
  });
});

describe("a user's mistake is one line that names the file", () => {
  it.each([
    ["a missing file", { path: "/nowhere/config" }, "kubeconfig /nowhere/config: "],
    ["a file that is not YAML", { path: fileWith("bad.yaml", "a: [") }, `${join(directory, "bad.yaml")}: `],
    ["an empty file", { path: fileWith("empty", "") }, `${join(directory, "empty")}: is not a kubeconfig`],
    [
      "an unknown context",
      { text, context: "eve@one" },
      "context eve@one not found; available contexts: ann@one, bob@two, nobody@one, cert@two, lost",
    ],
    ["a context whose cluster is missing", { text, context: "lost" }, "select a context (the current-context, lost, has no cluster)"],
    ["no current context", { text: JSON.stringify({ ...base, "current-context": "" }) }, "select a context"],
    ["a server that is no URL", { text: text.replace("https://one.example:6443/", "one.example") }, "server one.example is not a URL"],
  ])("%s", (_, source, message) => {
    expect(() => loadKubeconfig(source)).toThrow(UsageError);
    expect(() => loadKubeconfig(source)).toThrow(message);
  });
});

describe("KUBECONFIG", () => {
  const there = () => {
    const entry = { contexts: [{ name: "c", context: { cluster: "c", user: "u" } }], users: [{ name: "u", user: { token: "t" } }] };
    const clusters = [{ name: "c", cluster: { server: "https://c" } }];
    return fileWith("there", JSON.stringify({ ...entry, clusters, "current-context": "c" }));
  };

  it("may name files that are not there, as long as one is", () => {
    vi.stubEnv("KUBECONFIG", ["/not/there", there(), "/nor/there"].join(delimiter));
    expect(loadKubeconfig().server).toBe("https://c");
  });

  it.each([
    ["/not/there", "kubeconfig: /not/there does not exist: correct the variable KUBECONFIG, which names it, or pass --kubeconfig"],
    [
      `/not/there${delimiter}/nor/there`,
      "kubeconfig: /not/there, /nor/there do not exist: correct the variable KUBECONFIG, which names them, or pass --kubeconfig",
    ],
    [tmpdir(), `kubeconfig: ${tmpdir()}: is a directory`],
  ])("says which file of %s cannot be read", (files, message) => {
    vi.stubEnv("KUBECONFIG", files);
    expect(() => loadKubeconfig()).toThrow(message);
  });
});
