import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const PAGE = readFileSync(join(ROOT, "docs/operations/pipelines.md"), "utf8");

/** The one block of YAML of the page with this text in it. */
function blockWith(text: string): unknown {
  const blocks = [...PAGE.matchAll(/```yaml\n([\s\S]*?)```/g)].flatMap(([, block = ""]) => (block.includes(text) ? [block] : []));
  expect(blocks.length).toBe(1);
  return parse(blocks[0] ?? "");
}

const github = blockWith("jobs:") as {
  readonly jobs: { readonly validate: { readonly steps: readonly { readonly name?: string; readonly run?: string }[] } };
};
const gitlab = blockWith("before_script:") as {
  readonly policies: { readonly before_script: readonly string[]; readonly script: readonly string[] };
};

const WRONG = `apiVersion: networking.mesh.gloo.solo.io/v1
kind: TrafficPolicy
metadata: {name: wrong, namespace: bookinfo}
spec:
  destinationSelector: [{kubeServiceMatcher: {}}]
  policy:
    requestTimeout: 5
`;

/** A checkout of somebody's policies, with meshctl in the PATH as npm puts it there. */
describe("the pipelines of the page, in a shell", () => {
  let folder = "";
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "isthmus-pipelines-"));
    mkdirSync(join(folder, "bin"));
    // What `npm install --global` would link; the package itself is installed by tests/real/images.test.ts.
    writeFileSync(
      join(folder, "bin/meshctl"),
      `#!/bin/sh\nexec "${process.execPath}" "${join(ROOT, "apps/meshctl/bin/meshctl.js")}" "$@"\n`,
    );
    writeFileSync(join(folder, "bin/npm"), `#!/bin/sh\necho "$@" >> "${join(folder, "npm.log")}"\n`);
    for (const program of ["meshctl", "npm"]) chmodSync(join(folder, "bin", program), 0o755);
    mkdirSync(join(folder, "policies"));
    const clusters = ["cluster-1", "cluster-2"].map((name) => readFileSync(join(ROOT, `docs/examples/${name}.yaml`), "utf8"));
    writeFileSync(join(folder, "fleet.json"), clusters.join("\n---\n"));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function runStep(command: string): { readonly code: number | null; readonly out: string } {
    const env = { PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`, HOME: folder, MESHCTL_PACKAGE: "./meshctl.tgz" };
    // As GitHub runs a step, and GitLab a script.
    const { status, stdout, stderr } = spawnSync("bash", ["-e", "-o", "pipefail", "-c", command], {
      cwd: folder,
      env: { ...env, GITHUB_STEP_SUMMARY: join(folder, "summary.md") },
      encoding: "utf8",
    });
    return { code: status, out: stdout + stderr };
  }

  const steps = (): ReadonlyMap<string, string> =>
    new Map(github.jobs.validate.steps.flatMap(({ name, run }) => (name === undefined || run === undefined ? [] : [[name, run] as const])));
  const runNamed = (name: string) => runStep(steps().get(name) ?? expect.unreachable(`no step ${name}`));

  it.each([
    ["right", 0],
    ["wrong", 1],
    ["unreadable", 2],
  ] as const)("GitHub: with policies that are %s, the last step ends with %i", (state, code) => {
    givePolicies(state);
    expect([...steps().keys()]).toEqual(["Install meshctl", "SARIF", "Summary", "Validate"]);
    expect(runNamed("Install meshctl").code).toBe(0);
    expect(readFileSync(join(folder, "npm.log"), "utf8")).toContain("install --global --ignore-scripts ./meshctl.tgz");
    // Findings do not end these; an input that cannot be read does.
    for (const name of ["SARIF", "Summary"]) expect([name, runNamed(name).code]).toEqual([name, code === 2 ? 1 : 0]);
    const last = runNamed("Validate");
    expect(last.code, last.out).toBe(code);
    if (code === 2) return;
    const sarif = JSON.parse(readFileSync(join(folder, "meshctl.sarif"), "utf8"));
    const results = sarif.runs[0].results.filter(({ level }: { level: string }) => level === "error");
    expect(results.map(({ ruleId }: { ruleId: string }) => ruleId)).toEqual(code === 1 ? ["Malformed"] : []);
    expect(readFileSync(join(folder, "summary.md"), "utf8").includes("| error | Malformed | policies/wrong.yaml:7 |")).toBe(code === 1);
    expect(last.out.includes("::error file=policies/wrong.yaml,line=7,title=Malformed::")).toBe(code === 1);
  });

  it.each([
    ["right", 0],
    ["wrong", 1],
    ["unreadable", 1],
  ] as const)("GitLab: with policies that are %s, the job ends with %i", (state, code) => {
    givePolicies(state);
    const { before_script, script } = gitlab.policies;
    const { code: ended, out } = runStep([...before_script, ...script].join("\n"));
    expect(ended, out).toBe(code);
    if (state === "unreadable") return;
    const report = JSON.parse(readFileSync(join(folder, "gl-code-quality-report.json"), "utf8"));
    const errors = report.filter(({ severity }: { severity: string }) => severity === "major");
    expect(errors.map(({ location }: { location: object }) => location)).toEqual(
      state === "wrong" ? [{ path: "policies/wrong.yaml", lines: { begin: 7 } }] : [],
    );
  });

  function givePolicies(state: "right" | "wrong" | "unreadable"): void {
    for (const file of ["policies", "summary.md"]) rmSync(join(folder, file), { recursive: true, force: true });
    mkdirSync(join(folder, "policies"));
    cpSync(join(ROOT, "docs/examples/policies.yaml"), join(folder, "policies/policies.yaml"));
    if (state !== "right") writeFileSync(join(folder, "policies/wrong.yaml"), state === "wrong" ? WRONG : "a: [");
  }

  it("needs a bundle of meshctl that is there", () => {
    expect(execFileSync(join(folder, "bin/meshctl"), ["version", "--client"], { encoding: "utf8" })).toContain("client");
  });
});
