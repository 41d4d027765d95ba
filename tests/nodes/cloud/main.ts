// What a cloud and its network give a cluster, run inside a node: `main.ts NAME STATE`. Addresses of load balancers, volumes, NetworkPolicies as rules of
// nftables. It looks every second, so a NetworkPolicy follows pods up to that much later.
import { join } from "node:path";
import { messageOf } from "@isthmus/core";
import { tried } from "../commands.ts";
import { clusterNamed, planOf } from "../names.ts";
import { type CloudObject, cloudApi } from "./api.ts";
import { giveAddresses } from "./balancers.ts";
import { type NetworkPod, type NetworkPolicy, nftablesOf } from "./policyRules.ts";
import { provideVolumes } from "./volumes.ts";

const [name, state = ""] = process.argv.slice(2);
const plan = planOf(clusterNamed(name), state);
const api = cloudApi(plan);
let inForce = "";

async function enforcePolicies(): Promise<void> {
  const [policies, pods, namespaces] = await Promise.all([
    api.list<NetworkPolicy>("/apis/networking.k8s.io/v1/networkpolicies"),
    api.list<NetworkPod>("/api/v1/pods"),
    api.list<CloudObject>("/api/v1/namespaces"),
  ]);
  const rules = nftablesOf({ policies, pods, namespaces });
  if (rules === inForce) return;
  const { code, stderr } = tried(["nft", "-f", "-"], { input: rules });
  if (code !== 0) throw new Error(`${stderr}\n${rules}`);
  inForce = rules;
}

const tasks = [() => giveAddresses(api, plan.balancers), () => provideVolumes(api, join(plan.state, "volumes")), enforcePolicies];
for (;;) {
  for (const task of tasks) {
    // The API server is not there yet, or not any more.
    await task().catch((error: unknown) => console.log(messageOf(error)));
  }
  await new Promise((resolve) => setTimeout(resolve, 1_000));
}
