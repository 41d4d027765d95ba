import type { Page } from "playwright-core";

/** The path of Destinations, without a name. */
export const DESTINATION_PATH = "/object/discovery.mesh.gloo.solo.io/Destination/_/gloo-mesh";

/** Each page of the console, as the demo fills it: the addresses that tests of all pages open. */
export const CONSOLE_PAGES: readonly string[] = [
  "/",
  "/clusters",
  "/clusters?q=no:match",
  "/meshes",
  "/meshes/certificates",
  "/destinations",
  "/workloads?q=cluster:cluster-1",
  "/workloads?hide=mesh,version&open=/object/discovery.mesh.gloo.solo.io/Workload/_/gloo-mesh/reviews-v1-bookinfo-cluster-1-deployment",
  "/policies",
  "/policies?open=/object/networking.mesh.gloo.solo.io/VirtualMesh/_/gloo-mesh/bookinfo",
  "/policies/what-if",
  `/policies/what-if?of=${encodeURIComponent("/object/networking.mesh.gloo.solo.io/VirtualMesh/_/gloo-mesh/bookinfo")}`,
  "/access",
  "/access?view=services&q=no:match",
  "/access/cilium",
  "/access?view=services&from=cluster-1/bookinfo/bookinfo-productpage&to=cluster-1/bookinfo/reviews&method=GET",
  "/topology",
  "/topology?box=cluster%3Enamespace&find=reviews",
  "/topology?box=none&show=policy&find=nosuch:x&without=ns:istio-system",
  "/topology?view=table",
  "/topology?view=table&find=reviews&show=policy,insights",
  "/insights",
  "/insights?view=suppressed",
  "/insights?view=changes",
  "/insights/RES1003",
  "/debug",
  "/debug?view=snapshots",
  "/debug?view=pipeline",
  "/debug?view=sessions",
  "/debug/_/Service",
  "/object/multicluster.solo.io/KubernetesCluster/_/gloo-mesh/cluster-1",
  "/object/networking.mesh.gloo.solo.io/VirtualMesh/_/gloo-mesh/bookinfo",
  "/object/discovery.mesh.gloo.solo.io/Mesh/_/gloo-mesh/istiod-istio-system-cluster-1",
  `${DESTINATION_PATH}/reviews-bookinfo-cluster-1`,
  `${DESTINATION_PATH}/reviews-bookinfo-cluster-1?tab=effect`,
  "/object/networking.mesh.gloo.solo.io/VirtualMesh/_/gloo-mesh/bookinfo?tab=effect",
  "/object/networking.mesh.gloo.solo.io/VirtualMesh/_/gloo-mesh/bookinfo?tab=events",
  `${DESTINATION_PATH}/reviews-bookinfo-cluster-1?tab=generated`,
  "/object/networking.mesh.gloo.solo.io/VirtualMesh/_/gloo-mesh/bookinfo?tab=generated",
  "/object/networking.mesh.gloo.solo.io/VirtualMesh/_/gloo-mesh/bookinfo?tab=generated&view=compared",
  `${DESTINATION_PATH}/reviews-bookinfo-cluster-1?tab=yaml`,
  "/object/discovery.mesh.gloo.solo.io/Workload/_/gloo-mesh/reviews-v1-bookinfo-cluster-1-deployment",
  "/object/_/Service/cluster-1/bookinfo/no-such-object",
  "/no-such-page",
  "/changes",
  "/?scope=cluster-1,cluster-2",
  "/topology?view=table&scope=cluster-2",
];

/** Opens a page of the console, and waits until it has what it computes. */
export async function showConsolePage(page: Page, url: string, path: string): Promise<void> {
  await page.goto(`${url}${path}`);
  await page.waitForSelector("main h1, main .empty");
  if (path.includes("tab=effect"))
    await page
      .locator(".mantine-Tabs-panel")
      .getByText(/from configuration, not observed traffic|Objects of this kind/)
      .waitFor();
  if (path.startsWith("/access") && path !== "/access/cilium") await page.getByRole("heading", { name: "Matrix" }).waitFor();
  if (path.startsWith("/policies/what-if")) await page.waitForSelector(".what-if-result > *");
  if (path.includes("view=compared")) await page.getByRole("heading", { name: /Without it/ }).waitFor();
  if (path.startsWith("/topology") && !path.includes("view=table")) await page.waitForSelector(".service-node");
}
