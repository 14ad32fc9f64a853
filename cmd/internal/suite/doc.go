// Package suite runs a matrix of load tests from one file, and makes the tables of it.
//
// A suite is read from YAML (Read, or Scenario for those inside the program), made into rows (Suite.Plan), and run by a Runner,
// which starts one process for each run, keeps in the suite's directory what was planned and what came of it (suite.json,
// replaced as a whole after each change), and can go on where it stopped. Each run's capture is a directory of its own below
// it, so that the tables can be made again from the captures (Tables).
//
// Nothing here talks to a broker: runs are other processes, and what is set up for them is the caller's (Runner.Prepare).
package suite
