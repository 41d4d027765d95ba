import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Block, blocksOf, isShell } from "../../documents/blocks.ts";
import { runDocuments } from "../../documents/runDocuments.ts";
import { commandsOf, differenceOf } from "../../documents/transcript.ts";
import { describeReal } from "../harness/describeReal.ts";
import { type DocumentClusters, startDocumentClusters } from "./clusters.ts";
import { type Shell, startShell } from "./shell.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const COMMAND_MS = 150_000;
const CONTEXTS = { checkout: [], clusters: ["mgmt", "east", "west"], "gloo-mesh": ["mgmt", "east", "gloo-mgmt"] } as const;

/** Runs the blocks of a document of `runDocuments`, each as a test. Each document has a test file of its own, so that they run side by side. */
export function describeDocument(path: string): void {
  const setting = runDocuments.find((document) => document.path === path)?.setting;
  if (setting === undefined) throw new Error(`${path} is not in tests/documents/runDocuments.ts`);
  const blocks = blocksOf(path, readFileSync(join(root, path), "utf8"));

  // Each test continues where the one before it ended, as the reader does.
  describeReal(`the commands of ${path}`, (components) => {
    let clusters: DocumentClusters;
    let shell: Shell;
    let failed: string | undefined;

    beforeAll(async () => {
      clusters = await startDocumentClusters(components, CONTEXTS[setting]);
      shell = startShell(clusters.workspace.folder, clusters.workspace.env);
    }, 300_000);
    afterAll(async () => {
      shell?.stop();
      await clusters?.stop();
    });

    async function run(block: Block): Promise<void> {
      const commands = commandsOf(block);
      for (const [index, { text, output }] of commands.entries()) {
        const answer = await shell.run(text, COMMAND_MS);
        if (process.env["SHOW_DOCS"] === "1") console.log(`$ ${text}\n${answer.output}`);
        // What `kubectl rollout status` has waited for on a cluster with kubelets.
        if (text.includes("rollout status")) await clusters.ready();
        // A document that shows a command failing shows its exit code as well.
        if (commands[index + 1]?.text !== "echo $?") expect(answer.code, `${text}\n${answer.output}`).toBe(0);
        if (output !== undefined) expect(differenceOf(output, answer.output), text).toBeUndefined();
      }
    }

    for (const block of blocks.filter((one) => (isShell(one) && one.note === undefined) || one.note?.kind === "file")) {
      it(`${block.note?.kind === "file" ? block.note.text : "commands"} of line ${block.line}`, { timeout: 600_000 }, async () => {
        if (failed !== undefined) expect.fail(`not tried: ${failed} failed`);
        failed = `line ${block.line}`;
        if (block.note === undefined) await run(block);
        else writeFileSync(join(clusters.workspace.folder, block.note.text), `${block.text}\n`);
        failed = undefined;
      });
    }
  });
}
