import type { Target } from "./target.ts";
import { agent } from "./targets/agent.ts";
import { apiServer } from "./targets/apiServer.ts";
import { exposition } from "./targets/exposition.ts";
import { files } from "./targets/files.ts";
import { insights } from "./targets/insights.ts";
import { kubeconfig } from "./targets/kubeconfig.ts";
import { meshConfig } from "./targets/meshConfig.ts";
import { objects } from "./targets/objects.ts";
import { pem } from "./targets/pem.ts";
import { redis } from "./targets/redis.ts";
import { joining, relay, streams } from "./targets/relay.ts";
import { storeFiles, storeMemory } from "./targets/stores.ts";
import { tenant } from "./targets/tenant.ts";
import { tlsPort } from "./targets/tlsPort.ts";

/** Every entryPoint. Those that need no socket come first. */
export const TARGETS: readonly Target[] = [
  objects,
  tenant,
  meshConfig,
  pem,
  kubeconfig,
  files,
  apiServer,
  exposition,
  relay,
  streams,
  joining,
  tlsPort,
  agent,
  storeMemory,
  storeFiles,
  insights,
  redis,
];
