// A form keeps what was typed: through a refusal, and through a look at another page and back, until it was sent. What the
// API says of a field stands at that field.

import { Button } from '@mantine/core';
import { useEffect, useRef, useState, type FormEvent, type ReactNode } from 'react';
import { problemOf } from '../api/problem.ts';
import { ProblemBox } from './problem-box.tsx';
import { fieldName, wordsOf } from './problem-words.ts';

interface FormOptions<Values> {
  /** Under this name a draft is kept in the browser's tab; without one it is forgotten with the page. */
  name?: string;
  initial: Values;
  /** Fields that are never kept. */
  secret?: readonly (keyof Values)[];
  /** Sends it. What it throws is shown. */
  onSubmit: (values: Values) => Promise<unknown>;
}

export interface Form<Values> {
  values: Values;
  set: <Name extends keyof Values>(name: Name, value: Values[Name]) => void;
  /** What goes into a text field: `<TextInput label="Name" {...form.text('name')} />`. */
  text: (name: TextName<Values>, path?: string) => TextFieldProps;
  /** What goes into a `DateField`. */
  day: (
    name: TextName<Values>,
    path?: string,
  ) => Omit<TextFieldProps, 'name' | 'onChange'> & { onChange: (day: string) => void };
  /** What the API said of a field, by the path in its `errors`: `charges[0].model`. */
  errorAt: (path: string) => string | undefined;
  /** The paths that a field has asked for: what is wrong elsewhere is told below the fields. */
  asked: ReadonlySet<string>;
  error: unknown;
  isBusy: boolean;
  submit: (event?: FormEvent) => void;
  /** Back to the initial values, and no draft any more. */
  reset: () => void;
}

type TextName<Values> = { [Name in keyof Values]: Values[Name] extends string ? Name : never }[keyof Values] & string;

interface TextFieldProps {
  name: string;
  value: string;
  onChange: (event: { currentTarget: { value: string } }) => void;
  error: string | undefined;
}

export function useForm<Values extends object>({
  name,
  initial,
  secret = [],
  onSubmit,
}: FormOptions<Values>): Form<Values> {
  const [values, setValues] = useState<Values>(() => ({ ...initial, ...loadDraft<Values>(name) }));
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);

  const asked = new Set<string>();
  const errorAt = (path: string): string | undefined => {
    asked.add(path);
    if (error === null) return undefined;
    const found = wordsOf(problemOf(error)).fields.filter((each) => each.path === path);
    return found.length === 0 ? undefined : found.map(({ message }) => message).join(' ');
  };
  const set: Form<Values>['set'] = (field, value) =>
    setValues((before) => {
      const next = { ...before, [field]: value };
      saveDraft(name, next, secret);
      return next;
    });
  const send = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      await onSubmit(values);
      saveDraft(name, undefined, secret);
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return {
    values,
    set,
    text: (field, path = field) => ({
      name: field,
      value: String(values[field]),
      onChange: (event) => set(field, event.currentTarget.value as Values[typeof field]),
      error: errorAt(path),
    }),
    day: (field, path = field) => ({
      value: String(values[field]),
      onChange: (day) => set(field, day as Values[typeof field]),
      error: errorAt(path),
    }),
    errorAt,
    asked,
    error,
    isBusy,
    submit(event) {
      event?.preventDefault();
      if (!isBusy) void send();
    },
    reset() {
      setValues(initial);
      setError(null);
      saveDraft(name, undefined, secret);
    },
  };
}

interface FormBoxProps<Values> {
  form: Form<Values>;
  /** The words on the button that sends it. */
  submitLabel: string;
  onCancel?: () => void;
  children: ReactNode;
}

/** The fields, what went wrong, and the buttons. Enter sends it. */
export function FormBox<Values>({ form, submitLabel, onCancel, children }: FormBoxProps<Values>) {
  const box = useRef<HTMLFormElement>(null);
  const wasBusy = useRef(false);
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
          <Button variant="default" onClick={onCancel}>
            Cancel
          </Button>
        )}
        <Button type="submit" loading={form.isBusy}>
          {submitLabel}
        </Button>
      </div>
    </form>
  );
}

/** The first field that is wrong; else what is said below them; else the button, to go on from there. */
function focusAfterSending(box: HTMLFormElement): void {
  if (document.activeElement !== document.body && !box.contains(document.activeElement)) return;
  const places = ['[aria-invalid="true"]', '.problem', 'button[type="submit"]'];
  const place = places.map((each) => box.querySelector<HTMLElement>(each)).find((each) => each !== null);
  place?.focus();
}

/** What went wrong, but for what stands at the fields. It comes after them: only then is it known what they have asked for. */
function FormProblem<Values>({ form: { error, asked } }: { form: Form<Values> }) {
  if (error === null) return null;
  const { fields } = wordsOf(problemOf(error));
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

const keyOf = (name: string): string => `weir-form-${name}`;

function loadDraft<Values>(name: string | undefined): Partial<Values> {
  const text = name === undefined ? null : sessionStorage.getItem(keyOf(name));
  return text === null ? {} : (JSON.parse(text) as Partial<Values>);
}

function saveDraft<Values extends object>(
  name: string | undefined,
  values: Values | undefined,
  secret: readonly (keyof Values)[],
): void {
  if (name === undefined) return;
  if (values === undefined) return sessionStorage.removeItem(keyOf(name));
  const kept = Object.entries(values).filter(([field]) => !secret.includes(field as keyof Values));
  sessionStorage.setItem(keyOf(name), JSON.stringify(Object.fromEntries(kept)));
}
