// The charges of a plan, edited where they stand: one of them is open, and its cost is shown beside it.

import { Button, TextInput } from '@mantine/core';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import type { Schema } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { newKey } from '../api/sent-writes.ts';
import type { Form } from '../components/forms/form.tsx';
import { keysOf } from '../components/forms/keys-of.ts';
import { RowMenu } from '../components/lists/row-menu.tsx';
import { fieldWords } from '../components/outcomes/problem-words.ts';
import { Icon } from '../components/page/icons.tsx';
import { Section } from '../components/page/page.tsx';
import { formatDate, formatDay, isDay } from '../text/instants.ts';
import { useCosts } from './charge-costs.tsx';
import { describeDraft, draftOf, newChargeDraft, type ChargeDraft } from './charge-draft.ts';
import { ChargeEditor } from './charge-editor.tsx';
import { MODELS } from './charge-models.ts';
import { isAnnounced, timeWords } from './charge-time.ts';
import { describeBriefly } from './charge-words.ts';
import { newFeatureDraft, withMeter, type ChargeRow, type PlanDraft } from './plan-draft.ts';

type Charge = Schema<'Charge'>;
type Feature = Schema<'Feature'>;

interface ChargeRowsProps {
  form: Form<PlanDraft>;
  /** Charges that the plan has: but for their names they do not change, and may end. */
  charges: readonly Charge[];
  /** Of a plan that is there: in which its days begin. */
  zone: string | undefined;
  catalog: readonly Feature[];
  /** As the amounts are shown in. */
  currency: string;
  /** Which of them is open, by its key or its id. */
  open: string | undefined;
  onOpen: (key: string | undefined) => void;
  /** Where those that are new stand in what is sent. */
  path: string;
  /** Where what is changed of one that the plan has stands there. */
  pathOf: (id: string) => string;
}

export function ChargeRows({ form, charges, zone, catalog, currency, open, onOpen, path, pathOf }: ChargeRowsProps) {
  const { charges: rows, archived, renamed, type, billing_interval: interval } = form.values;
  const [added, setAdded] = useState<string>();
  const add = (row: Omit<ChargeRow, 'key'>): void => {
    const key = newKey();
    form.set('charges', [...rows, { ...row, key }]);
    setAdded(key);
    onOpen(key);
  };
  const remove = (key: string) =>
    form.set(
      'charges',
      rows.filter((each) => each.key !== key),
    );
  const archive = (id: string) => form.set('archived', [...archived, id]);
  const takeBack = (id: string) =>
    form.set(
      'archived',
      archived.filter((each) => each !== id),
    );
  const replaced = new Set(rows.map(({ replaces }) => replaces));
  const isOver = ({ id, ended_at }: Charge): boolean => archived.includes(id) || replaced.has(id) || ended_at !== null;
  const priced = new Set([
    ...charges.filter((charge) => !isOver(charge)).map(({ meter_id }) => meter_id),
    ...rows.map(({ draft }) => draft.meter_id),
  ]);
  const metered = catalog.filter(({ meter_id }) => meter_id !== null);
  const metersFor = (own: string | null) =>
    metered
      .filter(({ meter_id }) => meter_id === own || !priced.has(meter_id))
      .map(({ meter_id, name, unit }) => ({
        value: meter_id ?? '',
        label: unit === null ? name : `${name} (${unit})`,
      }));
  return (
    <Section title="Charges">
      <ul className="rows" aria-label="Charges">
        {charges.map((charge) => (
          <Row
            key={charge.id}
            name={renamed[charge.id]?.trim() || charge.display_name}
            words={describeBriefly(charge, currency, interval)}
            isOpen={open === charge.id}
            onOpen={onOpen}
            id={charge.id}
            note={
              noteOf(archived.includes(charge.id), replaced.has(charge.id)) ??
              (zone === undefined ? undefined : timeWords(charge, zone))
            }
            items={
              isOver(charge)
                ? archived.includes(charge.id)
                  ? [{ label: 'Keep it', onClick: () => takeBack(charge.id) }]
                  : []
                : [
                    { label: 'New price', onClick: () => add({ draft: draftOf(charge), replaces: charge.id }) },
                    { label: 'Archive price', onClick: () => archive(charge.id), isDangerous: true },
                  ]
            }
          >
            {!archived.includes(charge.id) && (
              <div className="charge-fields">
                <TextInput
                  label="Name"
                  description="On invoices from the next period on"
                  value={renamed[charge.id] ?? charge.display_name}
                  onChange={({ currentTarget: { value } }) => form.set('renamed', { ...renamed, [charge.id]: value })}
                  error={form.errorAt(`${pathOf(charge.id)}.display_name`)}
                  autoComplete="off"
                  required
                />
              </div>
            )}
          </Row>
        ))}
        {rows.map((row, index) => (
          <Row
            key={row.key}
            name={row.draft.display_name || (row.draft.type === 'FIXED' ? 'Fixed fee' : MODELS[row.draft.model].name)}
            words={describeDraft(row.draft, currency, interval) ?? 'no price yet'}
            isOpen={open === row.key}
            isFocused={added === row.key}
            onOpen={onOpen}
            id={row.key}
            note={charges.length > 0 ? noteOfNew(row) : undefined}
            items={[{ label: 'Remove', onClick: () => remove(row.key), isDangerous: true }]}
          >
            <OpenCharge
              form={form}
              row={row}
              replaced={charges.find(({ id }) => id === row.replaces)}
              zone={zone}
              path={`${path}[${index}]`}
              currency={currency}
              catalog={catalog}
              meters={metersFor(row.draft.meter_id)}
            />
          </Row>
        ))}
      </ul>
      {charges.length + rows.length === 0 && <p className="muted">The plan costs nothing yet.</p>}
      <div role="group" aria-label="Add a charge" className="add-row">
        <span aria-hidden="true">Add</span>
        {type !== 'FIXED' &&
          keysOf(MODELS).map((model) => (
            <AddButton key={model} onClick={() => add({ draft: newChargeDraft('USAGE', model) })}>
              {MODELS[model].name}
            </AddButton>
          ))}
        {type !== 'USAGE' && <AddButton onClick={() => add({ draft: newChargeDraft('FIXED') })}>Fixed fee</AddButton>}
      </div>
    </Section>
  );
}

function noteOf(isArchived: boolean, isReplaced: boolean): string | undefined {
  if (isArchived) return 'archived when you save';
  return isReplaced ? 'until the new price' : undefined;
}

function noteOfNew({ replaces, from = '' }: ChargeRow): string {
  const words = replaces === undefined ? 'new' : 'new price';
  return isDay(from) ? `${words} from ${formatDay(from)}` : words;
}

function AddButton({ onClick, children }: { onClick: () => void; children: string }) {
  return (
    <Button variant="default" leftSection={<Icon name="plus" />} onClick={onClick}>
      {children}
    </Button>
  );
}

interface RowProps {
  id: string;
  name: string;
  words: string;
  note: string | undefined;
  items: Parameters<typeof RowMenu>[0]['items'];
  isOpen: boolean;
  /** Whether its first field has the focus as soon as it is there. */
  isFocused?: boolean;
  onOpen: (key: string | undefined) => void;
  children?: ReactNode;
}

function Row({ id, name, words, note, items, isOpen, isFocused = false, onOpen, children }: RowProps) {
  const box = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isFocused) box.current?.querySelector<HTMLInputElement>('input:not([type="hidden"])')?.focus();
  }, [isFocused]);
  return (
    <li ref={box} className="row" data-open={isOpen || undefined}>
      <div className="row-head">
        <button
          type="button"
          className="row-name"
          aria-expanded={isOpen}
          onClick={() => onOpen(isOpen ? undefined : id)}
        >
          <strong>{name}</strong> {note !== undefined && <span className="status status-accent">{note}</span>}
          <span className="row-words">{words}</span>
        </button>
        {items.length > 0 && <RowMenu label={`Actions on ${name}`} items={items} />}
      </div>
      {isOpen && children}
    </li>
  );
}

interface OpenChargeProps {
  form: Form<PlanDraft>;
  row: ChargeRow;
  /** The charge whose place it takes. */
  replaced: Charge | undefined;
  zone: string | undefined;
  path: string;
  currency: string;
  catalog: readonly Feature[];
  meters: { value: string; label: string }[];
}

function OpenCharge({ form, row, replaced, zone, path, currency, catalog, meters }: OpenChargeProps) {
  const { key, draft } = row;
  const { charges, features, billing_interval: interval } = form.values;
  const [tried] = useCosts(draft, currency, ['0']);
  const own = catalog.find(({ meter_id }) => meter_id !== null && meter_id === draft.meter_id);
  const others = features.filter(({ feature_id }) => feature_id !== own?.id);
  const change = (part: Partial<ChargeRow>): void =>
    form.set(
      'charges',
      charges.map((each) => (each.key === key ? { ...each, ...part } : each)),
    );
  const onMeter = (meter: string | null): void => {
    const changed = withMeter({ charges, features }, { key, meter, catalog });
    form.set('charges', changed.charges);
    form.set('features', changed.features);
  };
  return (
    <ChargeEditor
      draft={draft}
      onChange={(changed: ChargeDraft) => change({ draft: changed })}
      onMeter={onMeter}
      currency={currency}
      interval={interval}
      meters={meters}
      isReplacing={row.replaces !== undefined}
      from={
        zone === undefined
          ? undefined
          : {
              label: `From (empty: ${soonestOf(replaced, zone)})`,
              value: row.from ?? '',
              onChange: (from) => change({ from }),
            }
      }
      feature={
        own && {
          name: own.name,
          isIncluded: others.length < features.length,
          onChange: (isIncluded) => form.set('features', isIncluded ? [...features, newFeatureDraft(own.id)] : others),
        }
      }
      errorOf={(field) => form.errorAt(`${path}.${field}`) ?? liveErrorOf(tried?.error ?? null, field)}
    />
  );
}

/** When a price holds that is for no day: one that is announced gives its place away as it would begin. */
function soonestOf(replaced: Charge | undefined, zone: string): string {
  return replaced !== undefined && isAnnounced(replaced) ? formatDate(replaced.effective_from, zone) : 'now';
}

/** What is wrong with a value that is there; what is missing is only told when it is sent. */
function liveErrorOf(error: unknown, path: string): string | undefined {
  if (error === null) return undefined;
  const found = problemOf(error).errors?.find((each) => each.path === `charge.${path}`);
  return found === undefined || found.message === 'must not be empty' ? undefined : fieldWords(found.message);
}
