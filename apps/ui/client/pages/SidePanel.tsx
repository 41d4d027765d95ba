import { kindKeyOf, type Resource, type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import { Link } from "@tanstack/react-router";
import { type RefObject, useEffect } from "react";
import { CopyMenu } from "../components/CopyMenu.tsx";
import { Empty } from "../components/Empty.tsx";
import { ErrorBoundary } from "../components/ErrorBoundary.tsx";
import { isTyping } from "../components/isTyping.ts";
import { Name } from "../components/Name.tsx";
import { ClusterChip, generatedOf, objectOf } from "../components/ObjectLink.tsx";
import { ObjectState } from "../components/ObjectState.tsx";
import { useFleet } from "../data/store.ts";
import { clusterOf } from "../model/clusters/clusterOf.ts";
import { paramsOf } from "../model/objectPath.ts";
import { t } from "../strings.ts";
import { Summary } from "../summaries/Summary.tsx";
import { AccessSlot } from "./AccessSlot.tsx";

export interface SidePanelProps {
  readonly of: ResourceRef;
  /** The generated object is meant, whatever its cluster reports under its name. */
  readonly isGenerated: boolean;
  close(): void;
  /** Its title, which takes the focus. */
  readonly title: RefObject<HTMLHeadingElement | null>;
}

const TABS = ["effect", "generated", "yaml", "events", "insights"] as const;

/** The summary of an object beside the table that it is in; Escape closes it. */
export function SidePanel({ of, isGenerated, close, title }: SidePanelProps) {
  const fleet = useFleet();
  const object = isGenerated ? generatedOf(fleet, of) : objectOf(fleet, of);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const isOfMenu = event.target instanceof Element && event.target.closest('[role="menu"]') !== null;
      if (event.key === "Escape" && !event.defaultPrevented && !isTyping(event) && !isOfMenu) close();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, [close]);
  return (
    <aside className="side-panel" aria-label={t.panel.label(of.kind, of.name)}>
      <header className="panel-head">
        <div className="object-title">
          <Crumbs object={object} kind={of.kind} />
          <h2 ref={title} tabIndex={-1}>
            <Name text={of.name} isWrapped />
          </h2>
        </div>
        <button type="button" className="button small" aria-label={t.panel.close} title={t.panel.close} onClick={close}>
          <span aria-hidden="true">✕</span>
        </button>
      </header>
      {object === undefined ? (
        <Empty title={t.objects.absent} how={t.objects.absentWhy} />
      ) : (
        <>
          {/* An address of a page is that of the object which the cluster reports. */}
          {isGenerated ? null : <Links object={object} />}
          <ErrorBoundary key={`${isGenerated} ${resourceKeyOf(refOf(object))}`}>
            <Summary object={object} access={<AccessSlot object={object} />} />
          </ErrorBoundary>
        </>
      )}
    </aside>
  );
}

function Links({ object }: { readonly object: Resource }) {
  return (
    <>
      <div className="panel-links">
        <ObjectState object={object} />
        <span className="inline">
          <Link className="button" to="/object/$group/$kind/$cluster/$namespace/$name" params={paramsOf(refOf(object))}>
            {t.panel.page}
          </Link>
          <CopyMenu object={object} />
        </span>
      </div>
      <nav className="panel-tabs" aria-label={t.panel.tabs}>
        {TABS.map((tab) => (
          <Link key={tab} to="/object/$group/$kind/$cluster/$namespace/$name" params={paramsOf(refOf(object))} search={{ tab }}>
            {t.objects.tabs[tab]}
          </Link>
        ))}
      </nav>
    </>
  );
}

function Crumbs({ object, kind }: { readonly object: Resource | undefined; readonly kind: string }) {
  const cluster = object === undefined ? "" : clusterOf(object);
  const { namespace = "" } = object?.metadata ?? {};
  return (
    <p className="crumbs">
      <span className="kind">
        <Name text={kind} />
      </span>
      {namespace === "" ? null : <Name text={namespace} />}
      {cluster === "" || kind === "KubernetesCluster" ? null : <ClusterChip name={cluster} />}
    </p>
  );
}

/** Whether an object is that of a panel; versions do not matter. */
export function isSameObject(object: Resource, ref: ResourceRef): boolean {
  const { name, namespace = "", clusterName = "" } = object.metadata;
  return name === ref.name && namespace === ref.namespace && clusterName === ref.clusterName && kindKeyOf(object) === kindKeyOf(ref);
}
