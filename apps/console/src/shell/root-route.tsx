import { createRootRouteWithContext, createRoute, Link, Outlet, redirect, useRouter } from '@tanstack/react-router';
import type { QueryClient } from '@tanstack/react-query';
import { isSignedOut } from '../api/problem.ts';
import { sessionQuery } from '../api/session.ts';
import { Notices } from '../components/outcomes/notices.tsx';
import { Page } from '../components/page/page.tsx';
import { ProblemBox } from '../components/outcomes/problem-box.tsx';
import { Shell } from './shell.tsx';

export const rootRoute = createRootRouteWithContext<{ queries: QueryClient }>()({
  component: () => (
    <>
      <Outlet />
      <Notices />
    </>
  ),
});

/** Above every page that needs a session. Who has none signs in first, and comes back to where they wanted to go. */
export const shellRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'shell',
  component: Shell,
  beforeLoad: async ({ context, location }) => {
    try {
      await context.queries.ensureQueryData(sessionQuery);
    } catch (error) {
      if (!isSignedOut(error)) throw error;
      throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { return: location.href } });
    }
  },
});

export function NotFound() {
  return (
    <Page title="Nothing here" about="There is no page at this address.">
      <p>
        <Link to="/">Go to the home page</Link>
      </p>
    </Page>
  );
}

/** A page that broke. What was on other pages is not lost. */
export function Broken({ error }: { error: unknown }) {
  const router = useRouter();
  return (
    <div className="broken">
      <ProblemBox error={error} onRetry={() => void router.invalidate()} />
    </div>
  );
}
