// A plan on one page: what it is called, what it costs and what it includes, with the cost of a charge beside it. Saving is one
// request, and all of it is done or nothing.

import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, Navigate, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { client, read, send, type Opened, type Schema } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { invalidate } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { useOnward } from '../components/dialogs/leaving.ts';
import { AskBeforeLeaving } from '../components/forms/ask-before-leaving.tsx';
import { FormBox, useForm, type Form } from '../components/forms/form.tsx';
import { useOpened } from '../components/forms/to-change.tsx';
import { Page } from '../components/page/page.tsx';
import { ThingPage } from '../components/page/thing-page.tsx';
import { ChargeCosts } from './charge-costs.tsx';
import { draftOf } from './charge-draft.ts';
import { ChargeRows } from './charge-rows.tsx';
import { FeatureRows } from './feature-rows.tsx';
import {
  changedCharges,
  changedFeatures,
  copyOfPlan,
  draftOfPlan,
  mergedFeatures,
  newPlanDraft,
  planBodyOf,
  planChangesOf,
  type PlanDraft,
} from './plan-draft.ts';
import { PlanFields } from './plan-fields.tsx';
import { PlanSelect } from './plan-select.tsx';
import './charge-editor.css';

type Plan = Schema<'PlanWithFeatures'>;
type Catalog = readonly Schema<'Feature'>[];

const ABOVE = <Link to="/plans">Plans</Link>;

/** A new plan, which may begin as a copy of another one. */
export function NewPlanPage() {
  const { copy } = useSearch({ strict: false }) as { copy?: string };
  const features = useQuery(read('/api/v1/features'));
  if (!useSession().isAdmin) return <Navigate to="/plans" replace />;
  return (
    <ThingPage query={features} of="Plan" title="New plan" above={ABOVE}>
      {({ data: catalog }) => (
        <AskBeforeLeaving>
          {copy === undefined ? (
            <NewPlan key="new" catalog={catalog} />
          ) : (
            <CopyOfPlan key={copy} id={copy} catalog={catalog} />
          )}
        </AskBeforeLeaving>
      )}
    </ThingPage>
  );
}

function CopyOfPlan({ id, catalog }: { id: string; catalog: Catalog }) {
  const copied = useOpened('/api/v1/plans/{id}', { path: { id } });
  return (
    <ThingPage query={copied} of="Plan" title="New plan" above={ABOVE}>
      {({ data }) => <NewPlan copied={data} catalog={catalog} />}
    </ThingPage>
  );
}

function NewPlan({ copied, catalog }: { copied?: Plan; catalog: Catalog }) {
  const navigate = useNavigate();
  const editor = useEditor({
    name: copied === undefined ? 'plan' : `plan-${copied.id}`,
    initial: copied === undefined ? newPlanDraft() : copyOfPlan(copied),
    path: 'charges',
    keysOf: ({ charges }) => ({ charges: charges.map(({ key }) => key) }),
    save: (draft) => send(client.POST('/api/v1/plans', { body: planBodyOf(draft, catalog) })),
  });
  return (
    <Page title="New plan" above={ABOVE}>
      <FormBox form={editor.form} submitLabel="Create plan" onCancel={() => void navigate({ to: '/plans' })}>
        <PlanSelect
          label="Copy of"
          placeholder="no other plan"
          labelOf={({ name, lookup_id }) => `${name} (${lookup_id})`}
          nothing="There is no other plan"
          value={copied?.id ?? null}
          onChange={(id) => void navigate({ to: '/plans/new', search: id === null ? {} : { copy: id } })}
          w={300}
          isClearable
          isNoField
        />
        <PlanFields form={editor.form} isNew={copied === undefined} isPriced={false} />
        <PlanParts editor={editor} catalog={catalog} />
      </FormBox>
    </Page>
  );
}

export function EditPlanPage() {
  const { planId } = useParams({ from: '/shell/plans/$planId/edit' });
  const features = useQuery(read('/api/v1/features'));
  const billing = useQuery(read('/api/v1/billing/settings'));
  const plan = useOpened('/api/v1/plans/{id}', { path: { id: planId } });
  if (!useSession().isAdmin) return <Navigate to="/plans/$planId" params={{ planId }} replace />;
  const page = { of: 'Plan', title: 'Edit plan', above: ABOVE };
  return (
    <ThingPage query={plan} {...page}>
      {(opened) => (
        <ThingPage query={features} {...page}>
          {({ data: catalog }) => (
            <ThingPage query={billing} {...page}>
              {({ time_zone: zone }) => (
                <AskBeforeLeaving>
                  <EditPlan opened={opened} catalog={catalog} zone={zone} />
                </AskBeforeLeaving>
              )}
            </ThingPage>
          )}
        </ThingPage>
      )}
    </ThingPage>
  );
}

interface EditPlanProps {
  opened: Opened<Plan>;
  catalog: Catalog;
  zone: string;
}

function EditPlan({ opened, catalog, zone }: EditPlanProps) {
  const navigate = useNavigate();
  // As it was when it was opened: what is read later does not change what is being written.
  const [plan, setPlan] = useState(opened.data);
  const editor = useEditor({
    initial: draftOfPlan(plan),
    path: 'add_charges',
    keysOf: (draft) => ({
      update_charges: changedCharges(plan, draft).map(({ id }) => id),
      add_charges: draft.charges.map(({ key }) => key),
    }),
    save: (draft) =>
      opened.change((PATCH) =>
        PATCH('/api/v1/plans/{id}', { params: { path: { id: plan.id } }, body: planChangesOf(plan, draft, catalog) }),
      ),
    async reload() {
      const now = await opened.reload();
      setPlan(now);
      return draftOfPlan(now);
    },
  });
  const back = { to: '/plans/$planId', params: { planId: plan.id } } as const;
  return (
    <Page title={`Edit ${plan.name}`} above={<Link {...back}>{plan.name}</Link>}>
      <FormBox form={editor.form} submitLabel="Save" onCancel={() => void navigate({ ...back, ignoreBlocker: true })}>
        <PlanFields form={editor.form} isNew={false} isPriced={plan.charges.length > 0} />
        <PlanParts editor={editor} catalog={catalog} there={{ plan, zone }} />
        {plan.charges.length > 0 && (
          <p className="muted">
            A price that is replaced or archived ends with the period of each subscription that is open then. Invoices
            that are made do not change.
          </p>
        )}
      </FormBox>
    </Page>
  );
}

interface Editor {
  form: Form<PlanDraft>;
  /** The charge that is open, by its key or its id. */
  open: string | undefined;
  setOpen: (key: string | undefined) => void;
  /** Where its new charges stand in what is sent. */
  path: string;
}

interface EditorOptions {
  /** Under which what is typed outlives the page. */
  name?: string;
  initial: PlanDraft;
  path: string;
  /** Of each list of charges that is sent: their keys, or their ids. */
  keysOf: (draft: PlanDraft) => Record<string, string[]>;
  save: (draft: PlanDraft) => Promise<{ id: string }>;
  /** Where somebody else has changed the plan: what it is now. */
  reload?: () => Promise<PlanDraft>;
}

function useEditor({ name, initial, path, keysOf, save, reload }: EditorOptions): Editor {
  const queries = useQueryClient();
  const onward = useOnward();
  const [open, setOpen] = useState<string>();
  const form = useForm<PlanDraft>({
    ...(name !== undefined && { name }),
    initial,
    reload,
    merge: (now, typed, known) => ({ features: mergedFeatures(now, typed, known) }),
    async onSubmit(draft) {
      const { id } = await save(draft).catch((error: unknown) => {
        const wrong = wrongRow(error, keysOf(draft));
        if (wrong !== undefined) setOpen(wrong);
        throw error;
      });
      await invalidate(queries, '/api/v1/plans', '/api/v1/plans/{id}', '/api/v1/features');
      await onward({ to: '/plans/$planId', params: { planId: id } });
    },
  });
  return { form, open, setOpen, path };
}

/** Which charge a refusal is about first. */
function wrongRow(error: unknown, keys: Record<string, string[]>): string | undefined {
  return problemOf(error).errors?.flatMap(({ path }) => {
    const [, list = '', index] = /^(\w+)\[(\d+)\]/.exec(path) ?? [];
    return keys[list]?.[Number(index)] ?? [];
  })[0];
}

interface PlanPartsProps {
  editor: Editor;
  catalog: Catalog;
  /** The plan that is changed, and the zone in which its days begin. */
  there?: { plan: Plan; zone: string };
}

/** Its charges and features, and what the charge that is open costs. */
function PlanParts({ editor: { form, open, setOpen, path }, catalog, there }: PlanPartsProps) {
  const { values } = form;
  const plan = there?.plan;
  const charges = (plan?.charges ?? []).filter(({ status }) => status === 'ACTIVE');
  const typed = values.currency.trim().toUpperCase();
  const currency = /^[A-Z]{3}$/.test(typed) ? typed : 'XXX';
  const row = values.charges.find(({ key }) => key === open);
  const charge = charges.find(({ id }) => id === open);
  const draft = row?.draft ?? (charge && draftOf(charge));
  const changes = plan === undefined ? [] : changedCharges(plan, values);
  const changed = plan === undefined ? values.features : changedFeatures(plan, values);
  const list = plan === undefined ? 'features' : 'put_features';
  return (
    <div className="plan-editor">
      <div>
        <ChargeRows
          form={form}
          charges={charges}
          zone={there?.zone}
          catalog={catalog}
          currency={currency}
          open={open}
          onOpen={setOpen}
          path={path}
          pathOf={(charge) => `update_charges[${changes.findIndex(({ id }) => id === charge)}]`}
        />
        <FeatureRows form={form} catalog={catalog} pathOf={(feature) => `${list}[${changed.indexOf(feature)}]`} />
      </div>
      {draft === undefined ? (
        <section className="costs" aria-label="Cost preview">
          <h3>Cost preview</h3>
          <p className="muted">Open a charge to see what it comes to.</p>
        </section>
      ) : (
        <ChargeCosts
          key={open}
          draft={draft}
          currency={currency}
          interval={values.billing_interval}
          unit={catalog.find(({ meter_id }) => meter_id !== null && meter_id === draft.meter_id)?.unit ?? null}
        />
      )}
    </div>
  );
}
