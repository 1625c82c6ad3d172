"""The demo: a manifest goes in, servers are driven over Redfish, a cluster's machines come out ready; all of it shown."""
