import type { CloudApi, CloudObject } from "./api.ts";

/** A Service, as far as its address goes. */
export interface BalancedService extends CloudObject {
  readonly spec: { readonly type?: string };
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip?: string }[] } };
}

const LAST = 254;

/** Gives each Service of type LoadBalancer an address of its own that leads to the node; `prefix` is the first three numbers of those. */
export async function giveAddresses(api: CloudApi, prefix: string): Promise<void> {
  const services = await api.list<BalancedService>("/api/v1/services");
  const addressOf = ({ status }: BalancedService) => status?.loadBalancer?.ingress?.[0]?.ip;
  const taken = new Set(services.map(addressOf));
  for (const service of services) {
    if (service.spec.type !== "LoadBalancer" || addressOf(service) !== undefined) continue;
    const free = Array.from({ length: LAST }, (_, i) => `${prefix}.${i + 1}`).find((one) => !taken.has(one));
    if (free === undefined) throw new Error(`no address of ${prefix}.0/24 is free`);
    taken.add(free);
    const { name, namespace = "" } = service.metadata;
    const status = { loadBalancer: { ingress: [{ ip: free, ipMode: "VIP" }] } };
    await api.send("PATCH", `/api/v1/namespaces/${namespace}/services/${name}/status`, { status });
  }
}
