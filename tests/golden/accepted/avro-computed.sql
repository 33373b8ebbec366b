SET defaults.topic.value.avro.record='FastVehicle'; SET defaults.topic.value.avro.namespace='com.example.fast';
INSERT INTO `fast-vehicles` SELECT STREAM plate, COALESCE(speed, 0) * 3.6 AS kmh, at, price, tags FROM vehicles
