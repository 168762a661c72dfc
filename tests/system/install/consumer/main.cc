// A program as a user of the installed package writes it.
#include <cstdio>
#include <string>

#include "keyway/client/client.h"

int main() {
  auto store = keyway::Store::open("local:");
  if (!store.ok()) return 1;
  auto session = store->session();
  if (!session.ok()) return 1;
  if (!session->put("where", "outside the tree").ok()) return 1;
  std::string value;
  if (!session->get("where", value).ok()) return 1;
  std::puts(value.c_str());
}
