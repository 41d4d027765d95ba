import { createRootRoute, createRoute, createRouter, Link, lazyRouteComponent, retainSearchParams } from "@tanstack/react-router";
import { Empty } from "./components/Empty.tsx";
import { Shell } from "./components/frame/Shell.tsx";
import { readPageSearch } from "./components/frame/usePageSearch.ts";
import { Loading } from "./components/Loading.tsx";
import { CertificatesPage } from "./pages/CertificatesPage.tsx";
import { CiliumPage } from "./pages/CiliumPage.tsx";
import { ClustersPage } from "./pages/ClustersPage.tsx";
import { DebugPage } from "./pages/DebugPage.tsx";
import { DestinationsPage } from "./pages/DestinationsPage.tsx";
import { InsightPage } from "./pages/InsightPage.tsx";
import { InsightsPage } from "./pages/InsightsPage.tsx";
import { KindPage } from "./pages/KindPage.tsx";
import { MeshesPage } from "./pages/MeshesPage.tsx";
import { ObjectPage } from "./pages/ObjectPage.tsx";
import { OverviewPage } from "./pages/OverviewPage.tsx";
import { PoliciesPage } from "./pages/PoliciesPage.tsx";
import { WorkloadsPage } from "./pages/WorkloadsPage.tsx";
import { t } from "./strings.ts";

const root = createRootRoute({
  component: Shell,
  validateSearch: readPageSearch,
  search: { middlewares: [retainSearchParams(["at", "scope"])] },
  notFoundComponent: NotFound,
});
const getParentRoute = () => root;

const routes = [
  createRoute({ getParentRoute, path: "/", component: OverviewPage }),
  createRoute({ getParentRoute, path: "/clusters", component: ClustersPage }),
  createRoute({ getParentRoute, path: "/meshes", component: MeshesPage }),
  createRoute({ getParentRoute, path: "/meshes/certificates", component: CertificatesPage }),
  createRoute({ getParentRoute, path: "/destinations", component: DestinationsPage }),
  createRoute({ getParentRoute, path: "/workloads", component: WorkloadsPage }),
  createRoute({ getParentRoute, path: "/policies", component: PoliciesPage }),
  createRoute({ getParentRoute, path: "/access/cilium", component: CiliumPage }),
  createRoute({ getParentRoute, path: "/insights", component: InsightsPage }),
  createRoute({ getParentRoute, path: "/insights/$code", component: InsightPage }),
  createRoute({ getParentRoute, path: "/debug", component: DebugPage }),
  createRoute({ getParentRoute, path: "/debug/$group/$kind", component: KindPage }),
  createRoute({ getParentRoute, path: "/object/$group/$kind/$cluster/$namespace/$name", component: ObjectPage }),
  // The translators are larger than all the rest, too.
  createRoute({
    getParentRoute,
    path: "/policies/what-if",
    component: lazyRouteComponent(() => import("./whatIf/WhatIfPage.tsx"), "WhatIfPage"),
    pendingComponent: Loading,
  }),
  createRoute({
    getParentRoute,
    path: "/changes",
    component: lazyRouteComponent(() => import("./changes/ChangesPage.tsx"), "ChangesPage"),
    pendingComponent: Loading,
  }),
  createRoute({
    getParentRoute,
    path: "/access",
    component: lazyRouteComponent(() => import("./access/AccessPage.tsx"), "AccessPage"),
    pendingComponent: Loading,
  }),
  // The libraries of the graph are larger than all the rest.
  createRoute({
    getParentRoute,
    path: "/topology",
    component: lazyRouteComponent(() => import("./topology/TopologyPage.tsx"), "TopologyPage"),
    pendingComponent: Loading,
  }),
] as const;

function NotFound() {
  return (
    <Empty isPage title={t.errors.notFound}>
      <Link className="button" to="/">
        {t.errors.home}
      </Link>
    </Empty>
  );
}

/** All pages by their addresses. What is in an address stays text: `q=cluster:c1`, not JSON. */
export const router = createRouter({
  routeTree: root.addChildren(routes),
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const pairs = Object.entries(search).flatMap(([key, value]) => (typeof value === "string" ? [[key, value]] : []));
    const text = new URLSearchParams(pairs).toString();
    return text === "" ? "" : `?${text}`;
  },
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
