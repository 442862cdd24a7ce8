// The pages that are for everybody, and those of usage and access. Those of the catalog and of billing are in billing-routes.ts.

import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { rootRoute, shellRoute } from './shell/root-route.tsx';

/** Of an address only these are taken, as text; the pages see to what they mean. */
function textsOf<Name extends string>(...names: Name[]) {
  return (search: Record<string, unknown>): { [Key in Name]?: string } =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name];
        return typeof value === 'string' && value !== '' ? [[name, value]] : [];
      }),
    ) as { [Key in Name]?: string };
}

export const publicRoutes = [
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/sign-in',
    validateSearch: textsOf('return'),
    component: lazyRouteComponent(() => import('./access/sign-in-page.tsx'), 'SignInPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/sign-up',
    component: lazyRouteComponent(() => import('./access/sign-up-page.tsx'), 'SignUpPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/invitation',
    component: lazyRouteComponent(() => import('./access/invitation-page.tsx'), 'InvitationPage'),
  }),
  createRoute({
    getParentRoute: () => rootRoute,
    path: '/password-reset',
    component: lazyRouteComponent(() => import('./access/password-reset-page.tsx'), 'PasswordResetPage'),
  }),
] as const;

export const usageRoutes = [
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/',
    component: lazyRouteComponent(() => import('./home/home-page.tsx'), 'HomePage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/usage',
    validateSearch: textsOf(
      'meter',
      'customer',
      'from',
      'to',
      'zone',
      'by',
      'compare',
      'split',
      'shown',
      'group',
      'value',
    ),
    component: lazyRouteComponent(() => import('./usage/usage-page.tsx'), 'UsagePage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/events',
    validateSearch: textsOf('status', 'meter', 'customer', 'from', 'to', 'key', 'reason', 'event'),
    component: lazyRouteComponent(() => import('./events/events-page.tsx'), 'EventsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/api-keys',
    validateSearch: textsOf('page'),
    component: lazyRouteComponent(() => import('./api-keys/api-keys-page.tsx'), 'ApiKeysPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/service-accounts',
    validateSearch: textsOf('page'),
    component: lazyRouteComponent(() => import('./service-accounts/service-accounts-page.tsx'), 'ServiceAccountsPage'),
  }),
  createRoute({
    getParentRoute: () => shellRoute,
    path: '/service-accounts/$accountId',
    validateSearch: textsOf('page'),
    component: lazyRouteComponent(() => import('./service-accounts/service-account-page.tsx'), 'ServiceAccountPage'),
  }),
] as const;
