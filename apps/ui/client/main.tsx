import { createTheme, MantineProvider } from "@mantine/core";
import "./styles/components.css";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { FleetStoreProvider, startFleetStore } from "./data/store.ts";
import { router } from "./router.tsx";
import "./styles/tokens.css";
import "./styles/shell.css";
import "./styles/content.css";
import "./styles/table.css";

const theme = createTheme({ respectReducedMotion: true });
// As long as the page lives.
const store = startFleetStore(new AbortController().signal);

const element = document.getElementById("root");
if (element === null) throw new Error("index.html has no element with the id root");
createRoot(element).render(
  <StrictMode>
    {/* The page forbids styles that are not files: the variables are in styles/tokens.css. */}
    <MantineProvider theme={theme} defaultColorScheme="auto" withCssVariables={false} withGlobalClasses={false}>
      <FleetStoreProvider value={store}>
        <RouterProvider router={router} />
      </FleetStoreProvider>
    </MantineProvider>
  </StrictMode>,
);
