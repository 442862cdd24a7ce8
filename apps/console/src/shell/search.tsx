import { Modal, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState, type KeyboardEvent } from 'react';
import { read } from '../api/client.ts';
import { useFocusBack } from '../components/dialogs/dialog.tsx';
import { Icon } from '../components/page/icons.tsx';
import { ProblemBox } from '../components/outcomes/problem-box.tsx';
import { DESTINATIONS } from './navigation.ts';
import './search.css';

interface Found {
  id: string;
  label: string;
  kind: string;
  to: string;
}

/** As many of each kind as one takes in at a glance. */
const FOUND_MAX = 6;

/** How the number of an invoice may begin: with its prefix, of which two characters are there. */
const NUMBER = /^[A-Z0-9][A-Z0-9._/-]+$/i;

/** While one types, the API is not asked for each letter. */
const PAUSE_MS = 150;

export function Search({ onClose }: { onClose: () => void }) {
  useFocusBack();
  return (
    <Modal
      opened
      onClose={onClose}
      withCloseButton={false}
      returnFocus={false}
      padding={0}
      attributes={{ content: { 'aria-label': 'Search' } }}
    >
      <SearchBox onClose={onClose} />
    </Modal>
  );
}

/** What was typed when Enter was pressed before the API had answered, and whether that is still waited for. */
interface Entered {
  text: string;
  isWaiting: boolean;
}

const NOT_ENTERED: Entered = { text: '', isWaiting: false };

function SearchBox({ onClose }: { onClose: () => void }) {
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const [active, setActive] = useState(0);
  const [entered, setEntered] = useState(NOT_ENTERED);
  const field = useRef<HTMLInputElement>(null);
  const text = typed.trim();
  const [paused] = useDebouncedValue(text, PAUSE_MS);
  const search = entered.text === text ? text : paused;
  const isOfText = search === text && text !== '';
  const customers = useQuery({
    ...read('/api/v1/customers', { query: { search, page_size: FOUND_MAX } }),
    enabled: search !== '',
  });
  const subscriptions = useQuery({
    ...read('/api/v1/subscriptions', { query: { external_id: search, page_size: 1 } }),
    enabled: search !== '',
  });
  const plans = useQuery({
    ...read('/api/v1/plans', { query: { search, page_size: FOUND_MAX } }),
    enabled: search !== '',
  });
  const features = useQuery({
    ...read('/api/v1/features', { query: { search, page_size: FOUND_MAX } }),
    enabled: search !== '',
  });
  const isNumber = NUMBER.test(search);
  const invoices = useQuery({
    ...read('/api/v1/invoices', { query: { search, page_size: FOUND_MAX } }),
    enabled: isNumber,
  });
  const billed = (isOfText && isNumber ? (invoices.data?.data ?? []) : []).map((invoice): Found => ({
    id: invoice.id,
    label: invoice.invoice_number ?? '',
    kind: 'Invoice',
    to: `/invoices/${invoice.id}`,
  }));
  const pages = DESTINATIONS.flatMap((group) => group.pages)
    .filter(({ label }) => label.toLowerCase().includes(text.toLowerCase()))
    .map(({ to, label }): Found => ({ id: to, label, kind: 'Page', to }));
  const named = (isOfText ? (customers.data?.data ?? []) : []).map((customer): Found => ({
    id: customer.id,
    label: customer.name ?? customer.external_id,
    kind: 'Customer',
    to: `/customers/${customer.id}`,
  }));
  const subscribed = (isOfText ? (subscriptions.data?.data ?? []) : []).map((subscription): Found => ({
    id: subscription.id,
    label: `${subscription.plan_name} for ${subscription.customer_external_id}`,
    kind: 'Subscription',
    to: `/subscriptions/${subscription.id}`,
  }));
  const priced = (isOfText ? (plans.data?.data ?? []) : []).map((plan): Found => ({
    id: plan.id,
    label: plan.name,
    kind: 'Plan',
    to: `/plans/${plan.id}`,
  }));
  const counted = (isOfText ? (features.data?.data ?? []) : []).map(({ id, name, meter_id: meter }): Found => ({
    id,
    label: name,
    kind: meter === null ? 'Feature' : 'Meter',
    to: meter === null ? `/features?search=${encodeURIComponent(name)}` : `/meters/${meter}`,
  }));
  // What looks like an id of an event is offered as one.
  const events: Found[] = /^[0-9a-f-]{36}$/.test(text)
    ? [{ id: 'event', label: text, kind: 'Event', to: `/events?event=${text}` }]
    : [];
  const isTyped = ({ label }: Found) => label.toLowerCase() === text.toLowerCase();
  // For these nothing is read, so nothing that is read comes before them.
  const atOnce = [...pages.filter((page) => isTyped(page)), ...events];
  const things = [...billed, ...subscribed, ...named, ...priced, ...counted];
  const found = [...atOnce, ...things, ...pages.filter((page) => !isTyped(page))];
  const at = Math.min(active, Math.max(found.length - 1, 0));

  const open = (to: string): void => {
    onClose();
    void navigate({ href: to });
  };
  const asked = [customers, subscriptions, plans, features, invoices];
  const failed = asked.filter((query) => query.error !== null);
  const error = failed[0]?.error ?? null;
  const isComing = search !== text || asked.some(({ isLoading }) => isLoading);
  const chosen = found[at]?.to;
  const isAnswered = entered.isWaiting && !isComing;
  const awaited = isAnswered && error === null ? chosen : undefined;
  // What is found later, when this is read anew, is only shown.
  if (isAnswered && awaited === undefined) setEntered({ text, isWaiting: false });
  useEffect(() => {
    if (awaited === undefined) return;
    onClose();
    void navigate({ href: awaited });
  }, [awaited, onClose, navigate]);
  const enter = (): void => {
    // Somebody who types on is not taken to what was found before.
    const isOfNow = at < atOnce.length || search === text;
    if (isOfNow && chosen !== undefined) open(chosen);
    else if (isComing) setEntered({ text, isWaiting: true });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setActive(Math.min(at + 1, found.length - 1));
    else if (event.key === 'ArrowUp') setActive(Math.max(at - 1, 0));
    else if (event.key === 'Enter') enter();
    else return;
    event.preventDefault();
  };
  return (
    <div className="search">
      <TextInput
        ref={field}
        variant="unstyled"
        size="md"
        data-autofocus
        leftSection={<Icon name="search" />}
        placeholder="Customers, plans, meters, pages, an invoice by its number, an event by its id"
        aria-label="Search"
        role="combobox"
        aria-expanded
        aria-controls="search-found"
        aria-activedescendant={found[at] === undefined ? undefined : `search-${at}`}
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          setActive(0);
          setEntered(NOT_ENTERED);
        }}
        onKeyDown={onKeyDown}
      />
      <ProblemBox
        error={error}
        onRetry={() => {
          for (const query of failed) void query.refetch();
          // The button goes.
          field.current?.focus();
        }}
      />
      <ul id="search-found" role="listbox" aria-label="Found">
        {found.map((item, index) => (
          // The field has the focus and the keys; the pointer may choose too.
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events
          <li
            key={item.id}
            id={`search-${index}`}
            role="option"
            aria-selected={index === at}
            onMouseMove={() => setActive(index)}
            onClick={() => open(item.to)}
          >
            <span>{item.label}</span>
            <span className="search-kind">{item.kind}</span>
          </li>
        ))}
      </ul>
      {(found.length === 0 || entered.isWaiting) && (
        <p className="search-none">
          {isComing || asked.some(({ isFetching }) => isFetching) ? 'Searching …' : 'Nothing found.'}
        </p>
      )}
    </div>
  );
}
