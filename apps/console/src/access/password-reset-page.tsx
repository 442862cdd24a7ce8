import { Page } from '../parts/page.tsx';

export function PasswordResetPage() {
  return <Page title="Password reset">{null}</Page>;
}
