import { Select } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { changeShown, type Schema } from '../api/client.ts';
import { problemOf, type Problem } from '../api/problem.ts';
import { invalidate } from '../api/queries.ts';
import { wordsOf } from '../components/outcomes/problem-words.ts';

type User = Schema<'User'>;

/** The id of the request only where Weir itself failed. */
function saidOf(problem: Problem): string {
  const { request_id: id, status = 0 } = problem;
  const { said } = wordsOf(problem);
  return id === undefined || status < 500 ? said : `${said} (request ${id})`;
}

/** The role of a person, changed where it stands. A refusal, such as for the last admin, stands below it. */
export function RoleSelect({ user }: { user: User }) {
  const queries = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const params = { path: { id: user.id } };
  const change = async (role: User['role']): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      await changeShown('/api/v1/users/{id}', params, { role: user.role }, (PATCH) =>
        PATCH('/api/v1/users/{id}', { params, body: { role } }),
      );
    } catch (problem) {
      setError(problem);
    }
    await invalidate(queries, '/api/v1/users', '/api/v1/auth/me');
    setBusy(false);
  };
  const problem = error === null ? undefined : problemOf(error);
  return (
    <Select
      aria-label={`Role of ${user.email}`}
      data={['admin', 'viewer']}
      value={user.role}
      onChange={(role) => role !== null && void change(role)}
      disabled={isBusy}
      error={problem && saidOf(problem)}
      allowDeselect={false}
      w={110}
    />
  );
}
