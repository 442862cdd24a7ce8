import type { IconName } from '../components/page/icons.tsx';

/** A page of the navigation. `key` leads there after `g`. */
export interface Destination {
  to: string;
  label: string;
  icon: IconName;
  key: string;
}

/** In the order of the navigation. */
export const DESTINATIONS: { group: string | undefined; pages: readonly Destination[] }[] = [
  {
    group: undefined,
    pages: [
      { to: '/', label: 'Home', icon: 'home', key: 'h' },
      { to: '/usage', label: 'Usage', icon: 'usage', key: 'u' },
      { to: '/events', label: 'Events', icon: 'events', key: 'e' },
      { to: '/alerts', label: 'Alerts', icon: 'alerts', key: 'l' },
    ],
  },
  {
    group: 'Catalog',
    pages: [
      { to: '/customers', label: 'Customers', icon: 'customers', key: 'c' },
      { to: '/features', label: 'Features and meters', icon: 'features', key: 'f' },
      { to: '/plans', label: 'Plans', icon: 'plans', key: 'p' },
    ],
  },
  {
    group: 'Billing',
    pages: [
      { to: '/subscriptions', label: 'Subscriptions', icon: 'subscriptions', key: 's' },
      { to: '/invoices', label: 'Invoices', icon: 'invoices', key: 'i' },
      { to: '/credits', label: 'Credits', icon: 'credits', key: 'r' },
    ],
  },
  {
    group: 'Organization',
    pages: [
      { to: '/api-keys', label: 'API keys', icon: 'keys', key: 'k' },
      { to: '/service-accounts', label: 'Service accounts', icon: 'services', key: 'a' },
      { to: '/webhooks', label: 'Webhooks', icon: 'external', key: 'w' },
      { to: '/settings', label: 'Settings', icon: 'settings', key: 'o' },
      { to: '/health', label: 'Health', icon: 'health', key: 'y' },
    ],
  },
];
