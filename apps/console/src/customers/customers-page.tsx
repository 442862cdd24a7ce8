import { Button, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { read } from '../api/client.ts';
import { AdminOnly } from '../parts/admin-only.tsx';
import { PagedTable } from '../parts/paged-table.tsx';
import { Page } from '../parts/page.tsx';
import { Time } from '../parts/time.tsx';
import { CustomerForm } from './customer-form.tsx';

export function CustomersPage() {
  const navigate = useNavigate();
  const [page, setPage] = useState(1);
  const [typed, setTyped] = useState('');
  const [search] = useDebouncedValue(typed.trim(), 200);
  const [isNew, setIsNew] = useState(false);
  const customers = useQuery({
    ...read('/api/v1/customers', { query: { page, ...(search !== '' && { search }) } }),
    placeholderData: keepPreviousData,
  });
  return (
    <Page
      title="Customers"
      actions={
        <AdminOnly>
          <Button onClick={() => setIsNew(true)}>New customer</Button>
        </AdminOnly>
      }
      filters={
        <TextInput
          type="search"
          aria-label="Search customers"
          placeholder="Search by name, id or email"
          value={typed}
          onChange={({ currentTarget: { value } }) => {
            setTyped(value);
            setPage(1);
          }}
          data-search
        />
      }
    >
      <PagedTable
        query={customers}
        page={page}
        onPage={setPage}
        label="Customers"
        columns={['Name', 'External id', 'Email', 'Since']}
        empty={
          search === ''
            ? 'No customer yet. Usage needs none: it is kept under the external id, and belongs to the customer once there is one.'
            : `No customer has “${search}” in its name, id or email.`
        }
        row={(customer) => (
          <tr key={customer.id}>
            <td>
              <Link to="/customers/$customerId" params={{ customerId: customer.id }}>
                {customer.name ?? customer.external_id}
              </Link>
            </td>
            <td>
              <code>{customer.external_id}</code>
            </td>
            <td>{customer.email}</td>
            <td>
              <Time of={customer.created_at} isDate />
            </td>
          </tr>
        )}
      />
      {isNew && (
        <CustomerForm
          onClose={() => setIsNew(false)}
          onDone={({ id }) => void navigate({ to: '/customers/$customerId', params: { customerId: id } })}
        />
      )}
    </Page>
  );
}
