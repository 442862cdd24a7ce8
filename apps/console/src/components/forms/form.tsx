// A form keeps what was typed: through a refusal, and through a look at another page and back, until it was sent or cancelled. What
// the API says of a field stands at that field. Values and fields are those of @mantine/form; drafts, and what the API refuses, are
// added here.

import { Button } from '@mantine/core';
import { useForm as useMantineForm, type GetInputPropsReturnType } from '@mantine/form';
import { useEffect, useRef, useState, type FormEvent, type KeyboardEvent, type ReactNode } from 'react';
import { problemOf } from '../../api/problem.ts';
import { useAtRisk, type Risk } from '../dialogs/at-risk.ts';
import { useIsThere } from '../dialogs/is-there.ts';
import { ProblemBox } from '../outcomes/problem-box.tsx';
import { fieldName, wordsOf } from '../outcomes/problem-words.ts';
import { pageTitle, tellWhoLeft } from '../outcomes/tell-who-left.ts';

/** What `onSubmit` returns where there is something to look at first: the draft is kept. */
export const NOT_SENT = Symbol('not sent');

interface FormOptions<Values> {
  /** Under this name a draft is kept in the browser's tab; without one it is forgotten with the page. */
  name?: string;
  initial: Values;
  /** Fields that are never kept, and may be lost. */
  secret?: readonly (keyof Values)[];
  /** Sends it, or returns `NOT_SENT`. What it throws is shown. `known` is what the fields have where nothing was typed. */
  onSubmit: (values: Values, known: Values) => Promise<unknown>;
  /** Reads what is changed anew, where somebody else has changed it: what it is now, as `initial`. */
  reload?: (() => Promise<Values>) | undefined;
  /** Of lists, of which somebody else may have changed another part: what becomes of them when it is read anew. */
  merge?: (now: Values, typed: Values, known: Values) => Partial<Values>;
}

export interface Form<Values> {
  values: Values;
  set: <Name extends keyof Values & string>(name: Name, value: Values[Name]) => void;
  /** Props of a field: `<TextInput label="Name" {...form.field('name')} />`. */
  field: <Name extends keyof Values & string>(name: Name, path?: string) => FieldProps & { value: Values[Name] };
  /** Props of a field that is on or off. */
  checkbox: (name: keyof Values & string) => FieldProps & { checked: boolean };
  /** Returns the refusal of a field, by the path in `errors`: `charges[0].model`. */
  errorAt: (path: string) => string | undefined;
  /** The paths that a field has asked for: what is wrong elsewhere is told below the fields. */
  asked: ReadonlySet<string>;
  error: unknown;
  isBusy: boolean;
  /** It is being sent; or something was typed that is not sent, and of which no draft is kept. */
  risk: Risk | undefined;
  submit: (event?: FormEvent<HTMLFormElement>) => void;
  /** Back to the initial values, and no draft any more. */
  reset: () => void;
  /** Reads anew what is changed. What was typed stays, and the other fields are as they are now. */
  reload: (() => Promise<void>) | undefined;
}

interface FieldProps {
  name: string;
  onChange: GetInputPropsReturnType['onChange'];
  error: string | undefined;
}

export function useForm<Values extends object>({
  name,
  initial,
  secret = [],
  onSubmit,
  reload,
  merge,
}: FormOptions<Values>): Form<Values> {
  const keptOf = (values: Values): Partial<Values> =>
    Object.fromEntries(
      Object.entries(values).filter(([field]) => !secret.includes(field as keyof Values)),
    ) as Partial<Values>;
  const form = useMantineForm<Values>({
    initialValues: { ...initial, ...loadDraft(name, keptOf(initial)) },
    clearInputErrorOnChange: false,
    onValuesChange: (values) => saveDraft(name, { initial: keptOf(initial), values: keptOf(values) }),
  });
  const [error, setError] = useState<unknown>(null);
  /** What the fields began with, or were saved as. */
  const [known, setKnown] = useState(initial);
  const isThere = useIsThere();
  const asked = new Set<string>();
  const errorAt = (path: string): string | undefined => {
    asked.add(path);
    return form.errors[path] as string | undefined;
  };
  const send = async (values: Values): Promise<void> => {
    setError(null);
    const title = pageTitle();
    try {
      if ((await onSubmit(values, known)) === NOT_SENT) return;
      setKnown(values);
      saveDraft(name, undefined);
    } catch (problem) {
      if (!isThere()) return tellWhoLeft(title, problem);
      setError(problem);
      form.setErrors(errorsOf(problem));
    }
  };
  const loadAnew = async (load: () => Promise<Values>): Promise<void> => {
    try {
      const now = await load();
      // Not those of the render that asked: one may have typed since.
      const typed = form.getValues();
      const merged: Partial<Values> = merge?.(now, typed, known) ?? {};
      for (const field of Object.keys(now) as (keyof Values & string)[])
        if (field in merged) form.setFieldValue(field, merged[field] as never);
        else if (isSame(typed[field], known[field])) form.setFieldValue(field, now[field] as never);
      setKnown(now);
      setError(null);
    } catch (problem) {
      setError(problem);
    }
  };
  const unsaved = name === undefined && !isSame(keptOf(form.values), keptOf(known)) ? 'typed' : undefined;
  return {
    values: form.values,
    set: (field, value) => form.setFieldValue(field, value as never),
    field: (field, path = field) => ({
      name: field,
      value: form.values[field],
      onChange: form.getInputProps(field).onChange,
      error: errorAt(path),
    }),
    checkbox: (field) => ({
      name: field,
      checked: form.values[field] === true,
      onChange: form.getInputProps(field).onChange,
      error: errorAt(field),
    }),
    errorAt,
    asked,
    error,
    isBusy: form.submitting,
    risk: form.submitting ? 'sent' : unsaved,
    submit(event) {
      event?.preventDefault();
      if (!form.submitting) form.onSubmit(send)();
    },
    reset() {
      form.setInitialValues(initial);
      form.reset();
      setKnown(initial);
      setError(null);
      saveDraft(name, undefined);
    },
    reload: reload === undefined ? undefined : () => loadAnew(reload),
  };
}

/** Values of fields are texts, and lists of them. */
const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Refusals of fields, by their paths. */
function errorsOf(problem: unknown): Record<string, string> {
  const errors: Record<string, string> = {};
  for (const { path, message } of wordsOf(problemOf(problem)).fields) {
    errors[path] = path in errors ? `${errors[path]} ${message}` : message;
  }
  return errors;
}

interface FormBoxProps<Values> {
  form: Form<Values>;
  /** The words on the button that sends it. */
  submitLabel: string;
  isDangerous?: boolean;
  /** What was typed is forgotten then. */
  onCancel?: () => void;
  /** False for a form that changes nothing: then one may leave it before its answer is there. */
  isHeldOpen?: boolean;
  /** What comes of it is shown once: whoever leaves while it is made is asked as where it is shown. */
  isShownOnce?: boolean;
  children: ReactNode;
}

/** The fields, what went wrong, and the buttons. Enter sends it. */
export function FormBox<Values>(props: FormBoxProps<Values>) {
  const { form, submitLabel, isDangerous = false, onCancel, isHeldOpen = true, isShownOnce = false, children } = props;
  const box = useRef<HTMLFormElement>(null);
  const wasBusy = useRef(false);
  const isHeld = isHeldOpen && form.isBusy;
  useAtRisk(isHeldOpen ? form.risk : undefined);
  useAtRisk(isHeld && isShownOnce ? 'shown once' : undefined);
  useEffect(() => {
    // While it is sent its button cannot have the focus, which then is nowhere.
    if (wasBusy.current && !form.isBusy && box.current !== null) focusAfterSending(box.current);
    wasBusy.current = form.isBusy;
  }, [form.isBusy]);
  return (
    <form ref={box} className="form" onSubmit={form.submit} noValidate>
      {children}
      <FormProblem form={form} />
      <div className="form-actions">
        {onCancel !== undefined && (
          <Button
            variant="default"
            onClick={() => {
              form.reset();
              onCancel();
            }}
            disabled={isHeld}
          >
            Cancel
          </Button>
        )}
        <Button type="submit" color={isDangerous ? 'red.9' : undefined} loading={form.isBusy}>
          {submitLabel}
        </Button>
      </div>
    </form>
  );
}

/** Props of an input that lies in a form and is no field of it, but looks something up: Enter there sends nothing. */
export const NO_FIELD = {
  onKeyDown(event: KeyboardEvent): void {
    if (event.key === 'Enter') event.preventDefault();
  },
};

/** The first field that is wrong; else what is said below them; else the button, to go on from there. */
function focusAfterSending(box: HTMLFormElement): void {
  if (document.activeElement !== document.body && !box.contains(document.activeElement)) return;
  const places = ['[aria-invalid="true"]', '.problem', 'button[type="submit"]'];
  const place = places.map((each) => box.querySelector<HTMLElement>(each)).find((each) => each !== null);
  place?.focus();
}

/** Refusals that stand at no field. They come after them: only then is it known what they have asked for. */
function FormProblem<Values>({ form: { error, asked, reload } }: { form: Form<Values> }) {
  if (error === null) return null;
  const problem = problemOf(error);
  if (problem.code === 'precondition_failed' && reload !== undefined) return <ChangedMeanwhile onReload={reload} />;
  const { fields } = wordsOf(problem);
  const elsewhere = fields.filter(({ path }) => !asked.has(path));
  if (fields.length === 0) return <ProblemBox error={error} />;
  return (
    <div className="problem" role="alert" tabIndex={-1}>
      <p className="problem-detail">
        {fields.length === 1 ? 'One thing needs another look.' : `${fields.length} things need another look.`}
      </p>
      {elsewhere.map(({ path, message }) => (
        <p key={path} className="problem-detail">
          {path === '' ? message : `${fieldName(path)}: ${message}`}
        </p>
      ))}
    </div>
  );
}

function ChangedMeanwhile({ onReload }: { onReload: () => Promise<void> }) {
  const [isBusy, setBusy] = useState(false);
  const reload = async (): Promise<void> => {
    setBusy(true);
    await onReload();
    setBusy(false);
  };
  return (
    <div className="problem" role="alert" tabIndex={-1}>
      <p className="problem-detail">
        Somebody changed this meanwhile, so nothing was saved. Load it anew: what you have changed here stays, and the
        rest is as it is now.
      </p>
      <Button variant="default" loading={isBusy} onClick={() => void reload()}>
        Load it anew
      </Button>
    </div>
  );
}

const keyOf = (name: string): string => `weir-form-${name}`;

interface Draft<Values> {
  initial: Partial<Values>;
  values: Partial<Values>;
}

/**
 * What of a draft is still so. Where a field begins with something else by now, what was typed stays and the rest is as it is now; of
 * lists nothing stays then, since they have beside what was typed what they began with, and one goes with another.
 */
function loadDraft<Values extends object>(name: string | undefined, now: Partial<Values>): Partial<Values> {
  const text = name === undefined ? null : sessionStorage.getItem(keyOf(name));
  const draft = text === null ? {} : (JSON.parse(text) as Partial<Draft<Values>>);
  const { initial, values } = draft;
  // A tab outlives an upgrade: in version 1.0 a draft is its values alone.
  if (initial === undefined || values === undefined) return {};
  const fields = Object.keys(values) as (keyof Values)[];
  const isAsBefore = (field: keyof Values): boolean => isSame(initial[field], now[field]);
  const isList = (field: keyof Values): boolean => Array.isArray(values[field]);
  const areListsKept = fields.filter(isList).every(isAsBefore);
  const isKept = (field: keyof Values): boolean =>
    isList(field) ? areListsKept : isAsBefore(field) || !isSame(initial[field], values[field]);
  return Object.fromEntries(fields.filter(isKept).map((field) => [field, values[field]])) as Partial<Values>;
}

function saveDraft<Values>(name: string | undefined, draft: Draft<Values> | undefined): void {
  if (name === undefined) return;
  if (draft === undefined) return sessionStorage.removeItem(keyOf(name));
  sessionStorage.setItem(keyOf(name), JSON.stringify(draft));
}
