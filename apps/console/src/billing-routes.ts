// The pages of the catalog, of billing and of the organization.

import './styles/things.css';
import { createRoute, lazyRouteComponent } from '@tanstack/react-router';
import { NotFound, shellRoute } from './shell/root-route.tsx';

const getParentRoute = () => shellRoute;

/** What lists show, and which tab is open: as text, the pages see to what it means. */
function validateSearch(search: Record<string, unknown>): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(search).flatMap(([name, value]) =>
      typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [],
    ),
  );
}

export const billingRoutes = [
  createRoute({
    getParentRoute,
    path: '/customers',
    validateSearch,
    component: lazyRouteComponent(() => import('./customers/customers-page.tsx'), 'CustomersPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/customers/$customerId',
    validateSearch,
    component: lazyRouteComponent(() => import('./customers/customer-page.tsx'), 'CustomerPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/features',
    validateSearch,
    component: lazyRouteComponent(() => import('./catalog/features-page.tsx'), 'FeaturesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/meters/$meterId',
    component: lazyRouteComponent(() => import('./catalog/meter-page.tsx'), 'MeterPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/plans',
    validateSearch,
    component: lazyRouteComponent(() => import('./catalog/plans-page.tsx'), 'PlansPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/plans/new',
    validateSearch,
    component: lazyRouteComponent(() => import('./catalog/plan-editor.tsx'), 'NewPlanPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/plans/$planId/edit',
    component: lazyRouteComponent(() => import('./catalog/plan-editor.tsx'), 'EditPlanPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/plans/$planId',
    component: lazyRouteComponent(() => import('./catalog/plan-page.tsx'), 'PlanPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/subscriptions',
    validateSearch,
    component: lazyRouteComponent(() => import('./billing/subscriptions-page.tsx'), 'SubscriptionsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/subscriptions/$subscriptionId',
    validateSearch,
    component: lazyRouteComponent(() => import('./billing/subscription-page.tsx'), 'SubscriptionPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/invoices',
    validateSearch,
    component: lazyRouteComponent(() => import('./billing/invoices-page.tsx'), 'InvoicesPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/invoices/$invoiceId',
    validateSearch,
    component: lazyRouteComponent(() => import('./billing/invoice-page.tsx'), 'InvoicePage'),
  }),
  createRoute({
    getParentRoute,
    path: '/credits',
    validateSearch,
    component: lazyRouteComponent(() => import('./billing/credits-page.tsx'), 'CreditsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/alerts',
    validateSearch,
    component: lazyRouteComponent(() => import('./alerts/alerts-page.tsx'), 'AlertsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/alerts/$alertId',
    validateSearch,
    component: lazyRouteComponent(() => import('./alerts/alert-page.tsx'), 'AlertPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/webhooks',
    component: lazyRouteComponent(() => import('./webhooks/webhooks-page.tsx'), 'WebhooksPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/webhooks/$endpointId',
    component: lazyRouteComponent(() => import('./webhooks/endpoint-page.tsx'), 'EndpointPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/settings',
    validateSearch,
    component: lazyRouteComponent(() => import('./settings/settings-page.tsx'), 'SettingsPage'),
  }),
  createRoute({
    getParentRoute,
    path: '/health',
    component: lazyRouteComponent(() => import('./health/health-page.tsx'), 'HealthPage'),
  }),
  // An address that nobody knows is a page like another, with the navigation.
  createRoute({ getParentRoute, path: '$', component: NotFound }),
] as const;
