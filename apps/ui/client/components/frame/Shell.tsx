import { Outlet } from "@tanstack/react-router";
import { useState } from "react";
import { flushSync } from "react-dom";
import { useFleetState, useFleetStore } from "../../data/store.ts";
import { t } from "../../strings.ts";
import { Empty } from "../Empty.tsx";
import { ErrorBoundary } from "../ErrorBoundary.tsx";
import { Loading } from "../Loading.tsx";
import { KeyboardMap } from "./KeyboardMap.tsx";
import { Navigation } from "./Navigation.tsx";
import { PauseButton } from "./PauseButton.tsx";
import { ScopeChips, ScopeDialog } from "./ScopeChips.tsx";
import { SearchDialog } from "./SearchDialog.tsx";
import { SnapshotClock } from "./SnapshotClock.tsx";
import { StaleBanner } from "./StaleBanner.tsx";
import { ThemeSwitch } from "./ThemeSwitch.tsx";
import { TimeSlider } from "./TimeSlider.tsx";
import { useShortcuts } from "./useShortcuts.ts";
import { ViewerMenu } from "./ViewerMenu.tsx";

type DialogName = "search" | "keys" | "scope";

/** What is around each page: navigation, search, scope, clock, theme, keyboard map. */
export function Shell() {
  const [dialog, setDialog] = useState<DialogName>();
  const [isPastOpen, setPastOpen] = useState(false);
  const store = useFleetStore();
  const { fleet, past, paused } = useFleetState();
  // At once, so that the next key goes to the dialog.
  const openNow = (which: DialogName) => flushSync(() => setDialog(which));
  useShortcuts({
    openSearch: () => openNow("search"),
    openKeys: () => openNow("keys"),
    openScope: () => openNow("scope"),
    pause: () => store.pause(paused === undefined),
  });
  const close = () => setDialog(undefined);
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {t.nav.skip}
      </a>
      <header className="top">
        <span className="brand" title={t.productWhy}>
          <svg viewBox="0 0 24 24" aria-hidden="true">
            <path d="M5 5v14M19 5v14M5 9.5h14M5 14.5h14" />
            <circle cx="5" cy="5" r="2.4" />
            <circle cx="19" cy="5" r="2.4" />
            <circle cx="5" cy="19" r="2.4" />
            <circle cx="19" cy="19" r="2.4" />
          </svg>
          <span>{t.product}</span>
        </span>
        <button type="button" className="search-button" onClick={() => setDialog("search")}>
          <span>{t.search.open}</span>
          <kbd>/</kbd>
        </button>
        <ScopeChips open={() => setDialog("scope")} />
        <SnapshotClock />
        <span className="top-tools">
          {fleet.source?.kind === "file" ? null : (
            <button type="button" className="button small" aria-expanded={isPastOpen} onClick={() => setPastOpen(!isPastOpen)}>
              {t.past.open}
            </button>
          )}
          <PauseButton />
          <ViewerMenu />
          <ThemeSwitch />
          <button type="button" className="button small" aria-label={t.keys.open} title={t.keys.open} onClick={() => setDialog("keys")}>
            ?
          </button>
        </span>
      </header>
      <Navigation />
      <main id="content" tabIndex={-1}>
        <TimeSlider isOpen={isPastOpen} />
        <StaleBanner />
        <ErrorBoundary>
          {fleet.isReady ? <Outlet /> : past?.problem === undefined ? <Loading /> : <Empty isPage title={t.past.unknown} />}
        </ErrorBoundary>
      </main>
      {dialog === "search" ? <SearchDialog close={close} /> : null}
      {dialog === "scope" ? <ScopeDialog close={close} /> : null}
      {dialog === "keys" ? <KeyboardMap close={close} /> : null}
    </div>
  );
}
