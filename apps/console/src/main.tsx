import './styles/mantine.ts';
import './styles/theme.css';
import './styles/shell.css';
import './styles/components.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { createRouter, RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { buildQueries } from './api/queries.ts';
import { billingRoutes } from './billing-routes.ts';
import { Loading } from './components/outcomes/loading.tsx';
import { publicRoutes, usageRoutes } from './routes.ts';
import { Broken, NotFound, rootRoute, shellRoute } from './shell/root-route.tsx';
import { mantineTheme } from './styles/mantine-theme.ts';

const queries = buildQueries();

const router = createRouter({
  routeTree: rootRoute.addChildren([...publicRoutes, shellRoute.addChildren([...usageRoutes, ...billingRoutes])]),
  context: { queries },
  defaultPreload: 'intent',
  // What is read belongs to the query client, which knows what is stale.
  defaultPreloadStaleTime: 0,
  // Another customer or invoice is another page: a dialog that is open over the one before goes with it, and acts on no other.
  defaultRemountDeps: ({ params }) => params,
  defaultPendingMs: 100,
  // What loads comes up slowly (components.css), and needs no half a second on the screen lest it flicker.
  defaultPendingMinMs: 0,
  defaultPendingComponent: Loading,
  defaultNotFoundComponent: NotFound,
  defaultErrorComponent: Broken,
  scrollRestoration: true,
  // All values are text. By default they are JSON, and an idempotency key of many digits would lose some.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch,
});

function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return text === '' ? '' : `?${text}`;
}

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

const place = document.querySelector('#console');
if (place === null) throw new Error('index.html has no place for the console');

createRoot(place).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <MantineProvider
        theme={mantineTheme}
        defaultColorScheme="auto"
        // Both would be style elements, which the policy of the page forbids; theme.css has the variables.
        withCssVariables={false}
        withGlobalClasses={false}
      >
        <RouterProvider router={router} />
      </MantineProvider>
    </QueryClientProvider>
  </StrictMode>,
);
