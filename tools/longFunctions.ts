import ts from "typescript";
import { lineOf } from "./importsOf.ts";

/** What a reader can hold at a time. */
const MOST_LINES = 150;

/**
 * Functions that were longer when the limit came, and how long they may be at most: nothing is added, and a number only falls. Contracts of ports are lists of
 * tests.
 */
const KNOWN: Readonly<Record<string, number>> = {
  "apps/agent/src/config.ts readAgentConfig": 190,
  "apps/mgmt-server/src/main.ts run": 180,
  "packages/plane/src/agent/agent.ts startAgent": 160,
  "packages/plane/src/informer/informer.ts startInformer": 160,
  "packages/plane/src/server/trust/meshTrust.ts startMeshTrust": 160,
  "packages/plane/src/snapshots/snapshotStore.ts snapshotStore": 160,
  "packages/console/src/events/hub.ts startConsoleHub": 200,
  "packages/dataplane/src/wasm/moduleKeeper.ts moduleKeeper": 160,
  "packages/plane/src/agent/downstream.ts downstream": 280,
  "packages/plane/src/agent/relayLoops.ts startRelayLoops": 250,
  "packages/plane/src/agent/schemas/schemaReporter.ts startSchemaReporter": 230,
  "packages/plane/src/agent/trust/orderObjects.ts orderObjects": 170,
  "packages/plane/src/apply/applier.ts startApplier": 280,
  "packages/plane/src/leader/election.ts startElection": 170,
  "packages/plane/src/replication/inputSharing.ts inputSharing": 270,
  "packages/plane/src/replication/sharing.ts startSharing": 310,
  "packages/plane/src/server/reconcile.ts reconciler": 220,
  "packages/plane/src/server/server.ts startServer": 230,
  "packages/plane/src/server/statuses/statusUpdates.ts statusUpdates": 190,
  "packages/relay/src/session/agentLink.ts startAgentLink": 210,
  "packages/relay/src/session/serverLink.ts startServerLink": 310,
  "packages/relay/src/transport/grpcClient.ts grpcConnector": 210,
  "packages/store/src/file.ts fileStore": 160,
  "packages/store/src/memory.ts memoryStore": 190,
  "packages/store/src/redis.ts redisStore": 290,
  "packages/testing/src/storeContract.ts (arrow)": 190,
  "packages/testing/src/storeContract.ts storeContract": 190,
  "packages/testing/src/clusterContract/apply.ts (arrow)": 160,
  "packages/testing/src/clusterContract/apply.ts applyContract": 260,
  "packages/testing/src/clusterContract/watch.ts watchContract": 160,
  "packages/testing/src/clusterContract/writes.ts (arrow)": 190,
  "packages/testing/src/clusterContract/writes.ts writeContract": 240,
  "packages/testing/src/oneTenant/inputs.ts tenantsObjects": 170,
};

/** What is wrong with the lengths of a file's functions. */
export function longFunctionProblems(path: string, source: ts.SourceFile): readonly string[] {
  const longest = new Map<string, { readonly lines: number; readonly at: number }>();
  visit(source, (node) => {
    const lines = source.getLineAndCharacterOfPosition(node.end).line + 2 - lineOf(source, node);
    const key = `${path} ${nameOf(source, node)}`;
    if (lines > MOST_LINES && lines > (longest.get(key)?.lines ?? 0)) longest.set(key, { lines, at: lineOf(source, node) });
  });
  const problems: string[] = [];
  for (const [key, { lines, at }] of longest) {
    const most = KNOWN[key] ?? MOST_LINES;
    if (lines > most)
      problems.push(`${path}:${at}: a function of ${lines} lines, above ${most}: give what it does by steps functions of their own`);
  }
  for (const [key, most] of Object.entries(KNOWN)) {
    if (!key.startsWith(`${path} `)) continue;
    const lines = longest.get(key)?.lines ?? 0;
    if (lines <= most - SLACK)
      problems.push(
        `tools/longFunctions.ts: ${key} is ${lines > MOST_LINES ? `${lines} lines long now, not ${most}` : "no longer too long"}: correct the list`,
      );
  }
  return problems;
}

// A line more or less is no matter.
const SLACK = 20;

type FunctionNode = ts.FunctionDeclaration | ts.FunctionExpression | ts.ArrowFunction | ts.MethodDeclaration;

function isFunction(node: ts.Node): node is FunctionNode {
  return ts.isFunctionDeclaration(node) || ts.isFunctionExpression(node) || ts.isArrowFunction(node) || ts.isMethodDeclaration(node);
}

function visit(node: ts.Node, found: (node: FunctionNode) => void): void {
  if (isFunction(node)) found(node);
  ts.forEachChild(node, (child) => visit(child, found));
}

function nameOf(source: ts.SourceFile, node: FunctionNode): string {
  return node.name === undefined ? "(arrow)" : node.name.getText(source);
}
